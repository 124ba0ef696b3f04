package socialdata_test

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/privacy"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/all"
	"github.com/socialdata/socialdata/schema"
)

// upstreamOf returns a provider with the identifiers and raw routes of the shipped one with a name, and without its
// reads. forward answers raw reads.
func upstreamOf(t *testing.T, on platform.ID, name, forward string) providers.Provider {
	t.Helper()
	shipped := slices.Concat(all.New(all.Config{})...)
	i := slices.IndexFunc(shipped, func(p providers.Provider) bool { return p.Platform == on && p.Name == name })
	if i < 0 {
		t.Fatalf("there is no provider %s of %s", name, on)
	}
	p := shipped[i]
	at := slices.IndexFunc(shipped, func(p providers.Provider) bool { return p.Platform == on && p.Names != nil })
	p.Normalize, p.Names, p.Also = shipped[at].Normalize, shipped[at].Names, shipped[at].Also
	return providers.Provider{
		Name: name, Platform: on, Source: schema.Official, Normalize: p.Normalize, Names: p.Names, Also: p.Also,
		Routes: p.Routes, Subjects: p.Subjects,
		Forward: func(context.Context, string, url.Values) (json.RawMessage, error) {
			return json.RawMessage(forward), nil
		},
	}
}

// erasing returns an engine of p after the account with a handle was erased and blocked.
func erasing(t *testing.T, p providers.Provider, handle string) *enginetest.Engine {
	t.Helper()
	e := enginetest.New(t, enginetest.Config{
		Providers: []providers.Provider{p},
		Options:   []socialdata.Option{socialdata.WithErasures(privacy.NewMemory(privacy.MemoryConfig{}))},
	})
	erase(t, e, p.Platform, handle)
	return e
}

func erase(t *testing.T, e *enginetest.Engine, on platform.ID, handle string) {
	t.Helper()
	req := schema.EraseRequest{Platform: on, Handle: handle, Block: true}
	if _, err := e.Open.Operator().Erase(t.Context(), req); err != nil {
		t.Fatal(err)
	}
}

func TestRawAnswersAboutBlockedSubjectsAreNotFound(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		on       platform.ID
		provider string
		handle   string // blocked
		path     string
		query    []string
		answer   string
		shown    bool
	}{
		"its author":                     {platform.HackerNews, "hackernews", "salma", "item/8863.json", nil, `{"by":"salma","id":8863}`, false},
		"another's item":                 {platform.HackerNews, "hackernews", "salma", "item/8863.json", nil, `{"by":"zoe","text":"salma"}`, true},
		"a file that is named so":        {platform.HackerNews, "hackernews", "salma", "user/salma.json", nil, `{}`, false},
		"a part of the route":            {platform.HackerNews, "hackernews", "user", "user/zoe.json", nil, `{"id":"zoe"}`, true},
		"a member with a URL":            {platform.HackerNews, "hackernews", "salma", "item/1.json", nil, `{"by":"zoe","url":"https://news.ycombinator.com/user?id=salma"}`, false},
		"another case":                   {platform.GitHub, "github", "salma", "repos/zoe/x", nil, `{"owner":{"login":"Salma"}}`, false},
		"a page of the account":          {platform.GitHub, "github", "salma", "repos/zoe/x", nil, `{"html_url":"https://github.com/Salma/dotfiles/issues/3"}`, false},
		"a word in a text":               {platform.GitHub, "github", "salma", "repos/zoe/x", nil, `{"description":"salma","login":"zoe"}`, true},
		"a URL that is a parameter":      {platform.LinkedIn, "scrapecreators", "in/salma", "v1/linkedin/profile", []string{"url", "https://www.linkedin.com/in/Salma/?trk=x"}, `{}`, false},
		"a URL without a scheme":         {platform.LinkedIn, "scrapecreators", "in/salma", "v1/linkedin/profile", []string{"url", "linkedin.com/in/salma"}, `{}`, false},
		"another's URL":                  {platform.LinkedIn, "scrapecreators", "in/salma", "v1/linkedin/profile", []string{"url", "https://www.linkedin.com/in/zoe"}, `{"name":"Zoe"}`, true},
		"a handle with an @":             {platform.TikTok, "scrapecreators", "salma", "v1/tiktok/profile", []string{"handle", "@Salma"}, `{}`, false},
		"the page of a post":             {platform.TikTok, "scrapecreators", "salma", "v2/tiktok/video", []string{"url", "https://www.tiktok.com/@salma/video/7301234567890123456"}, `{}`, false},
		"a nested author":                {platform.TikTok, "scrapecreators", "salma", "v2/tiktok/video", []string{"url", "https://www.tiktok.com/@zoe/video/7301234567890123456"}, `{"item":{"author":{"uniqueId":"salma"}}}`, false},
		"a search for it":                {platform.Reddit, "reddit", "salma", "search", []string{"q", "author:salma tea"}, `{}`, false},
		"an account of another platform": {platform.Linktree, "scrapecreators", "zoe_", "v1/linktree", []string{"url", "https://linktr.ee/salma"}, `{"links":["https://www.instagram.com/x/"]}`, true},
		"a DID in a URI":                 {platform.Bluesky, "bluesky", "salma.example", "xrpc/app.bsky.feed.getPosts", nil, `{"posts":[{"uri":"at://salma.example/app.bsky.feed.post/3k"}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := erasing(t, upstreamOf(t, tt.on, tt.provider, tt.answer), tt.handle)
			for range 2 { // read, and cached
				in := append([]string{"platform", tt.provider, "path", tt.path}, tt.query...)
				_, err := call(t, e.Client, "raw", in...)
				if tt.shown {
					if err != nil {
						t.Error(err)
					}
					continue
				}
				enginetest.WantProblem(t, err, problem.NotFound, "withheld at the request of its owner")
			}
			if want := map[bool]int{true: 2}[tt.shown]; len(e.Charges(t)) != want {
				t.Errorf("charges %+v; want %d", e.Charges(t), want)
			}
		})
	}
}

// TestTranscriptsOfBlockedAccountsAreNotFound checks that a transcript, which names no author, belongs to the account
// that the address in the request, the URL of the transcript or its post names.
func TestTranscriptsOfBlockedAccountsAreNotFound(t *testing.T) {
	t.Parallel()
	const id, key = "7301234567890123456", "idempotency-key-1"
	address := "https://www.tiktok.com/@salma/video/" + id
	for name, tt := range map[string]struct {
		url    string // of the transcript
		author string // of the post; "" if posts cannot be read
		calls  [][]string
	}{
		"by address": {"https://www.tiktok.com/video/" + id, "", [][]string{{"post_id", address}}},
		"by id, and its URL names the account": {address, "", [][]string{
			{"post_id", id}, {"post_id", id, "fresh", "true"}, {"post_id", id, "key", key}, {"post_id", id, "key", "idempotency-key-2"},
		}},
		"by id, and its post names the account": {"https://www.tiktok.com/video/" + id, "salma", [][]string{
			{"post_id", id}, {"post_id", id, "fresh", "true"}, {"post_id", id, "key", key}, {"post_id", id, "key", "idempotency-key-2"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := upstreamOf(t, platform.TikTok, "tiktok", "{}")
			p.Transcript = func(context.Context, providers.TranscriptQuery) (schema.Transcript, error) {
				return schema.Transcript{Common: schema.Common{ID: id, URL: tt.url}, PostID: id, Text: "Hello."}, nil
			}
			if tt.author != "" {
				p.Post = func(_ context.Context, id string) (schema.Post, error) {
					post := enginetest.Post(id)
					post.Author = schema.Actor{ID: "1", Handle: tt.author}
					return post, nil
				}
			}
			e := enginetest.New(t, enginetest.Config{
				Providers: []providers.Provider{p},
				Options:   []socialdata.Option{socialdata.WithErasures(privacy.NewMemory(privacy.MemoryConfig{}))},
			})
			transcript := func(params ...string) error {
				_, err := call(t, e.Client, "transcript", append([]string{"platform", "tiktok"}, params...)...)
				return err
			}
			if err := transcript("post_id", id, "key", key); err != nil {
				t.Fatal(err)
			}
			erase(t, e, platform.TikTok, "salma")
			for _, params := range tt.calls {
				enginetest.WantProblem(t, transcript(params...), problem.NotFound, "withheld")
			}
			keys, err := e.Records.Keys(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range keys {
				if r, err := e.Records.Get(t.Context(), k); err == nil && strings.Contains(string(r.Value), "Hello") {
					t.Errorf("the record %s has the transcript", k)
				}
			}
			if n := len(e.Charges(t)); n != 1 {
				t.Errorf("%d charges, want that of the first call", n)
			}
		})
	}
}
