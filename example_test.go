package socialdata_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/observe"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/schema"
)

func Example() {
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		log.Fatal(err)
	}
	profile, err := client.Profile(context.Background(),
		socialdata.ProfileRequest{Platform: platform.Mock, Handle: "@Salma_Haddad"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(profile.Data.Handle, profile.Data.URL)
	fmt.Println(profile.Meta.Cache, profile.Meta.CreditsUsed)
	// Output:
	// salma_haddad https://mock.example/@salma_haddad
	// MISS 1
}

// A walk reads page after page, until the loop ends.
func ExampleWalk() {
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	n := 0
	for _, err := range socialdata.Walk(ctx, client.Posts,
		socialdata.PostsRequest{Platform: platform.Mock, Handle: "one_page"}) {
		if err != nil {
			log.Fatal(err)
		}
		n++
	}
	fmt.Println(n, "posts")

	req := socialdata.CollectionTracksRequest{Platform: platform.Mock, ID: "salma_haddad-collection-1"}
	for track, err := range socialdata.Walk(ctx, client.CollectionTracks, req) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("the first track is", track.ID)
		break
	}
	// Output:
	// 10 posts
	// the first track is salma_haddad-collection-1-song-1
}

// Every error is a problem with a code for the program to act on.
func ExampleClient_Profile_problem() {
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		log.Fatal(err)
	}
	for _, handle := range []string{"suspended", "rate_limited_upstream", "two words"} {
		_, err = client.Profile(context.Background(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: handle})
		var p *problem.Error
		if !errors.As(err, &p) {
			log.Fatal(err)
		}
		switch p.Code {
		case problem.NotFound:
			fmt.Println("gone:", p.Detail)
		case problem.PlatformUnavailable:
			fmt.Println("try again in", p.RetryAfter)
		default:
			fmt.Println(p.Code)
		}
	}
	// Output:
	// gone: this account is suspended
	// try again in 30s
	// invalid_request
}

// A client with a ledger charges the account of the key that it is bound to.
func ExampleClient_As() {
	ctx := context.Background()
	ledger, store := credits.NewMemory(credits.MemoryConfig{}), keys.NewMemory(keys.MemoryConfig{})
	client, err := socialdata.New(
		socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithLedger(ledger), socialdata.WithKeys(store),
	)
	if err != nil {
		log.Fatal(err)
	}
	account, err := store.CreateAccount(ctx, "example")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := ledger.Grant(ctx, account.ID, 10, "welcome"); err != nil {
		log.Fatal(err)
	}
	_, key, err := store.CreateKey(ctx, keys.NewKey{Account: account.ID, Environment: keys.Live})
	if err != nil {
		log.Fatal(err)
	}
	req := socialdata.PostsRequest{Platform: platform.Mock, Handle: "salma_haddad"}
	for range 2 {
		posts, err := client.As(key).Posts(ctx, req)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(posts.Data), "posts,", posts.Meta.Cache, posts.Meta.CreditsUsed, "of", posts.Meta.CreditsRemaining)
	}
	// Output:
	// 20 posts, MISS 1 of 9
	// 20 posts, HIT 1 of 8
}

// Everything about a client can be configured with options.
func ExampleNew() {
	client, err := socialdata.New(
		socialdata.WithProviders(mock.New(mock.Config{})),
		socialdata.WithCache(cache.NewMemory(cache.MemoryConfig{Bytes: 16 << 20})),
		socialdata.WithTimeout(5*time.Second),
		socialdata.WithPrices(map[platform.ID]int64{platform.Mock: 3}),
		socialdata.WithObserver(observe.Observer{Call: func(c observe.Call) { fmt.Println("seen:", c.Platform, c.Operation) }}),
	)
	if err != nil {
		log.Fatal(err)
	}
	profile, err := client.Profile(context.Background(),
		socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma_haddad"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(profile.Data.Handle, "costs", profile.Meta.CreditsUsed)
	// Output:
	// seen: mock profile
	// salma_haddad costs 3
}

// A fan-out search searches many platforms at once. A platform that fails does not affect the others: its state is in
// the meta.
func ExampleClient_SearchAcross() {
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		log.Fatal(err)
	}
	found, err := client.SearchAcross(context.Background(), socialdata.SearchAcrossRequest{
		Query: "coffee", Platforms: []platform.ID{platform.Mock, platform.Twitch},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(found.Data) > 0, found.Meta.Platforms[platform.Mock], found.Meta.Platforms[platform.Twitch])
	// Output:
	// true ok error
}

// Search results have a kind, and an object of the type for it.
func ExampleClient_Search() {
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		log.Fatal(err)
	}
	found, err := client.Search(context.Background(), socialdata.SearchRequest{Platform: platform.Mock, Query: "coffee"})
	if err != nil {
		log.Fatal(err)
	}
	for _, result := range found.Data[:4] {
		switch o := result.Object.(type) {
		case *schema.Profile:
			fmt.Println("the profile", o.Handle)
		case *schema.Post:
			fmt.Println("a post of", o.Author.Handle)
		case *schema.Product:
			fmt.Println("the product", o.ID)
		default:
			fmt.Println("a", result.Kind)
		}
	}
	// Output:
	// the profile coffee
	// a post of coffee
	// a comment
	// the product coffee-product-15
}

// A custom provider is a table of functions: operations that are nil are not served.
func ExampleWithProviders() {
	team := providers.Chain{{
		Name: "team", Platform: platform.GitHub, Source: schema.Own,
		Profile: func(_ context.Context, handle string) (schema.Profile, error) {
			if handle != "ann" {
				return schema.Profile{}, providers.NotFound("nobody here is called %s", handle)
			}
			return schema.Profile{Common: schema.Common{ID: "1", URL: "https://team.example/ann"}, Handle: "ann"}, nil
		},
	}}
	client, err := socialdata.New(socialdata.WithProviders(team))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for _, handle := range []string{"ann", "bob"} {
		profile, err := client.Profile(ctx, socialdata.ProfileRequest{Platform: platform.GitHub, Handle: handle})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(profile.Data.Handle, profile.Data.Source, profile.Data.URL)
	}
	_, err = client.Posts(ctx, socialdata.PostsRequest{Platform: platform.GitHub, Handle: "ann"})
	fmt.Println(err)
	// Output:
	// ann own https://team.example/ann
	// Profile on github: not_found: nobody here is called bob
	// Posts on github: platform_unavailable: github does not offer Posts: the upstream does not offer it (team)
}

// countingCache is a custom cache that wraps another and counts lookups.
type countingCache struct {
	cache.Store
	gets atomic.Int64
}

// Get implements cache.Store.
func (c *countingCache) Get(ctx context.Context, key string) (*cache.Entry, error) {
	c.gets.Add(1)
	return c.Store.Get(ctx, key)
}

// A custom cache has two methods; the suite in cache/cachetest checks that it fulfils the contract.
func ExampleWithCache() {
	counted := &countingCache{Store: cache.NewMemory(cache.MemoryConfig{})}
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithCache(counted))
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		profile, err := client.Profile(context.Background(),
			socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma_haddad"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(profile.Meta.Cache)
	}
	fmt.Println("asked:", counted.gets.Load() > 0)
	// Output:
	// MISS
	// HIT
	// asked: true
}

// invoicedLedger is a custom ledger that wraps another and writes an invoice line for each charge.
type invoicedLedger struct{ credits.Ledger }

// Settle implements credits.Ledger.
func (l invoicedLedger) Settle(ctx context.Context, h credits.Hold, c credits.Charge) (credits.Receipt, error) {
	receipt, err := l.Ledger.Settle(ctx, h, c)
	if err == nil && receipt.Charged > 0 {
		fmt.Println("invoice:", c.Platform, c.Operation, receipt.Charged)
	}
	return receipt, err
}

// A custom ledger has four methods; the suite in credits/ledgertest checks that it fulfils the contract.
func ExampleWithLedger() {
	ctx := context.Background()
	books, store := credits.NewMemory(credits.MemoryConfig{}), keys.NewMemory(keys.MemoryConfig{})
	client, err := socialdata.New(
		socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithLedger(invoicedLedger{books}),
		socialdata.WithKeys(store),
	)
	if err != nil {
		log.Fatal(err)
	}
	account, err := store.CreateAccount(ctx, "example")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := books.Grant(ctx, account.ID, 1, "welcome"); err != nil {
		log.Fatal(err)
	}
	_, key, err := store.CreateKey(ctx, keys.NewKey{Account: account.ID, Environment: keys.Live})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		_, err = client.As(key).Profile(ctx, socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma_haddad"})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// invoice: mock profile 1
	// Profile on mock: insufficient_credits: the balance does not cover this call: it costs up to 1 credit, and the account can spend 0; nothing was charged
}
