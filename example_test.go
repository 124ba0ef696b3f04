package socialdata_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers/mock"
)

func Example() {
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		log.Fatal(err)
	}
	profile, err := client.Profile(context.Background(), socialdata.ProfileRequest{Platform: platform.Mock, Handle: "@Salma_Haddad"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(profile.Data.Handle, profile.Data.URL)
	fmt.Println(profile.Meta.Cache, profile.Meta.CreditsUsed)
	// Output:
	// salma_haddad https://mock.example/@salma_haddad
	// MISS 1
}

// A walk reads page after page, as far as it is followed.
func ExampleWalk() {
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	n := 0
	for _, err := range socialdata.Walk(ctx, client.Posts, socialdata.PostsRequest{Platform: platform.Mock, Handle: "one_page"}) {
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

// Every error is a problem with a code to act on.
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
