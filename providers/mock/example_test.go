package mock_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/mock"
)

func Example() {
	p, ctx := mock.New(mock.Config{})[0], context.Background()
	posts, err := p.Posts(ctx, "salma_haddad", "")
	if err != nil {
		panic(err)
	}
	fmt.Println(len(posts.Items), posts.Items[0].ID)
	comments, err := p.Comments(ctx, posts.Items[0].ID, "")
	if err != nil {
		panic(err)
	}
	fmt.Println(comments.Items[2].ID)
	// Output:
	// 20 salma_haddad-post-1
	// salma_haddad-post-1-comment-3
}

func ExampleMagic() {
	p, ctx := mock.New(mock.Config{})[0], context.Background()
	_, err := p.Profile(ctx, "private")
	fmt.Println(errors.Is(err, providers.ErrNotFound), err)
	_, err = p.Posts(ctx, "rate_limited_upstream", "")
	fmt.Println(err)
	for _, w := range mock.Magic()[:2] {
		fmt.Printf("%s, %s: %d, %s\n", w.Word, w.Where, w.Status, w.Does)
	}
	// Output:
	// true not found: this account is private
	// upstream unavailable: the sandbox is rate limiting us
	// not_found, every operation: 404, it does not exist
	// private, every operation: 404, its owner only shows it to friends
}
