package enginetest

import (
	"context"
	"strconv"

	"pgregory.net/rapid"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

// Hostile is an upstream's list: for each token, its items and the next token.
type Hostile struct {
	Pages    [][]int // items of each page
	next     []int   // token after each page; 0 is the end
	restless bool    // the same token has other items the next time
	asked    int
	Shown    map[int]bool
}

// Read returns a page, like a provider.
func (h *Hostile) Read(_ context.Context, _, token string) (providers.Page[schema.Post], error) {
	at, _ := strconv.Atoi(token)
	shows := at
	if h.restless {
		shows = h.asked % len(h.Pages)
	}
	h.asked++
	var page providers.Page[schema.Post]
	for _, n := range h.Pages[shows] {
		h.Shown[n] = true
		page.Items = append(page.Items, Post(strconv.Itoa(n)))
	}
	if n := h.next[at]; n > 0 {
		page.Next = strconv.Itoa(n)
	}
	return page, nil
}

// DrawHostile draws a list whose pages repeat items and whose tokens skip, loop, stay the same or go back.
func DrawHostile(t *rapid.T) *Hostile {
	n := rapid.IntRange(1, 12).Draw(t, "pages")
	h := &Hostile{Shown: map[int]bool{}, restless: rapid.Bool().Draw(t, "restless")}
	for range n {
		h.Pages = append(h.Pages, rapid.SliceOfN(rapid.IntRange(0, 30), 0, 8).Draw(t, "items"))
		h.next = append(h.next, rapid.IntRange(0, n-1).Draw(t, "next"))
	}
	return h
}

// Client returns a client whose only provider has the list.
func (h *Hostile) Client(t *rapid.T) *socialdata.Client {
	client, err := socialdata.New(
		socialdata.WithProviders(providers.Chain{{Name: "hostile", Platform: platform.GitHub, Source: schema.Own, Posts: h.Read}}),
		socialdata.WithEnricher(Enricher()),
	)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
