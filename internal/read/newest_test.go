package read_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// made returns posts of the given years, whose ids are the years; "?" is a post without a time.
func made(years ...string) []schema.Post {
	var posts []schema.Post
	for i, year := range years {
		p := enginetest.Post(year)
		if n, err := strconv.Atoi(year); err == nil {
			p.CreatedAt = new(time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC))
		} else {
			p.ID += strconv.Itoa(i)
		}
		posts = append(posts, p)
	}
	return posts
}

func TestListsThatPromiseItAreNewestFirst(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		pages []string // the years of the posts of each page
		want  []string
		drift int // pages that were out of order
	}{
		{"in order", []string{"2024 2021 2019"}, []string{"2024 2021 2019"}, 0},
		{"repositories by name", []string{"2023 2019 2024 2020 2021 2022"}, []string{"2024 2023 2022 2021 2020 2019"}, 1},
		{"oldest first", []string{"2019 2020 2021 2022 2023 2024"}, []string{"2024 2023 2022 2021 2020 2019"}, 1},
		{"pins", []string{"2018 2020 2017 2024 2023"}, []string{"2024 2023 2020 2018 2017"}, 0},
		{"more pins than any platform allows", []string{"2018 2020 2017 2016 2024 2023"}, []string{"2024 2023 2020 2018 2017 2016"}, 1},
		{"a post out of order", []string{"2024 2019 2023 2022 2021"}, []string{"2024 2023 2022 2021 2019"}, 0},
		{"a post out of order at the end", []string{"2024 2023 2022 2021 2020 2025"}, []string{"2025 2024 2023 2022 2021 2020"}, 1},
		{"unknown times", []string{"2021 ? 2024 ?"}, []string{"2024 2021 ?1 ?3"}, 0},
		{"each page by itself", []string{"2024 2022", "2023 2021"}, []string{"2024 2022", "2023 2021"}, 0},
		{"no pins behind the first page", []string{"2024", "2020 2022 2021"}, []string{"2024", "2022 2021 2020"}, 1},
	}
	for _, o := range socialdata.Operations() {
		if o.Service || o.Of != "" || !strings.Contains(o.Summary, "newest first") {
			continue
		}
		for _, tt := range tests {
			t.Run(o.Name+", "+tt.name, func(t *testing.T) {
				t.Parallel()
				drift := 0
				read := func(_ context.Context, _, token string) (providers.Page[schema.Post], error) {
					n, _ := strconv.Atoi(token) // "" is the first page
					page := providers.Page[schema.Post]{Items: made(strings.Fields(tt.pages[n])...)}
					if n++; n < len(tt.pages) {
						page.Next = strconv.Itoa(n)
					}
					return page, nil
				}
				e := enginetest.New(t, enginetest.Config{
					Providers: []providers.Provider{{Name: "github", Platform: platform.GitHub, Source: schema.Official, Posts: read, Reels: read}},
					Options: []socialdata.Option{socialdata.WithObserver(observe.Observer{Drift: func(d observe.Drift) {
						if d.Field == "created_at" && !d.LeftOut {
							drift++
						}
					}})},
				})
				var got []string
				params := url.Values{"handle": {"a"}}
				for range tt.pages {
					answer, err := socialdata.FrontEnd(e.Client).Do(t.Context(), o, operation.Call{Platform: "github", Params: params})
					if err != nil {
						t.Fatal(err)
					}
					var rows []struct{ ID string }
					if err := json.Unmarshal(answer.Data, &rows); err != nil {
						t.Fatal(err)
					}
					var ids []string
					for _, row := range rows {
						ids = append(ids, row.ID)
					}
					got = append(got, strings.Join(ids, " "))
					params.Set("cursor", answer.Meta.NextCursor)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" || drift != tt.drift {
					t.Errorf("%d pages have drifted, want %d; ids (-want +got):\n%s", drift, tt.drift, diff)
				}
			})
		}
	}
}
