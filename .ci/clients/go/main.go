// Command clients reads real answers with the client that oapi-codegen makes of the API description.
// Usage: clients http://127.0.0.1:PORT KEY
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, base, key string) error {
	client, err := NewClientWithResponses(base, WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+key)
		return nil
	}))
	if err != nil {
		return err
	}
	enrich := EnrichParam(Arabic)
	posts, err := client.ListPostsWithResponse(ctx, "mock", &ListPostsParams{Handle: "salma", Enrich: &enrich})
	if err != nil {
		return err
	}
	if p := posts.JSON200; p == nil || len(p.Data) == 0 || p.Meta.CreditsUsed != 4 || p.Meta.NextCursor == nil ||
		p.Data[0].Author.Handle != "salma" || p.Data[0].Enrichment == nil {
		return fmt.Errorf("the posts are %s", posts.Body)
	}
	found, err := client.SearchAcrossWithResponse(ctx, &SearchAcrossParams{Query: "coffee", Platforms: &[]PlatformID{"mock"}})
	if err != nil {
		return err
	}
	if found.JSON200 == nil || len(found.JSON200.Data) == 0 {
		return fmt.Errorf("the search came to %s", found.Body)
	}
	if _, err := found.JSON200.Data[0].ValueByDiscriminator(); err != nil {
		return err
	}
	missing, err := client.GetPostWithResponse(ctx, "mock", &GetPostParams{Id: "not_found"})
	if err != nil {
		return err
	}
	if p := missing.ApplicationproblemJSON404; p == nil || p.Code != "not_found" {
		return fmt.Errorf("a post that is not there came to %s", missing.Body)
	}
	fmt.Println("oapi-codegen: a list, a search and a problem are read")
	return nil
}
