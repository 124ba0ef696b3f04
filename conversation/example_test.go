package conversation_test

import (
	"context"
	"fmt"
	"log"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/conversation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers/mock"
)

// A conversation has the comments on a post, each before the replies to it.
func ExampleOf() {
	client, err := socialdata.New(socialdata.WithProviders(mock.New(mock.Config{})))
	if err != nil {
		log.Fatal(err)
	}
	req := socialdata.PostRequest{Platform: platform.Mock, ID: "salma_haddad-post-7"}
	for item, err := range conversation.Of(context.Background(), client, req, conversation.Most{Rows: 3}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Depth, item.Data.ID)
	}
	// Output:
	// 0 salma_haddad-post-7-comment-1
	// 1 salma_haddad-post-7-comment-1-reply-1
	// 1 salma_haddad-post-7-comment-1-reply-2
}
