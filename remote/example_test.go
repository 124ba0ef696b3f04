package remote_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/keys"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers/mock"
	"github.com/socialdata/socialdata/remote"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server"
)

// A function that declares the methods that it needs works with the library and over HTTP.
func Example() {
	store := keys.NewMemory(keys.MemoryConfig{})
	account, err := store.CreateAccount(context.Background(), "acme")
	if err != nil {
		log.Fatal(err)
	}
	secret, _, err := store.CreateKey(context.Background(),
		keys.NewKey{Account: account.ID, Name: "production", Environment: keys.Live})
	if err != nil {
		log.Fatal(err)
	}
	local, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})), socialdata.WithKeys(store))
	if err != nil {
		log.Fatal(err)
	}
	srv, err := server.New(local)
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(srv.Handler())
	defer web.Close()
	far, err := remote.New(web.URL, remote.Config{Key: secret})
	if err != nil {
		log.Fatal(err)
	}

	type profiles interface {
		Profile(context.Context, socialdata.ProfileRequest) (*schema.Envelope[schema.Profile], error)
	}
	for _, client := range []profiles{local, far} {
		profile, err := client.Profile(context.Background(),
			socialdata.ProfileRequest{Platform: platform.Mock, Handle: "salma_haddad"})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(profile.Data.Handle, profile.Meta.Cache)
	}
	// Output:
	// salma_haddad MISS
	// salma_haddad HIT
}
