// Command embed reads posts from inside a Go program: no server, no key, no ledger. It runs offline on the sandbox
// platform; with a platform and a handle it reads for real:
//
//	go run ./examples/embed
//	go run ./examples/embed github octocat
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers/bluesky"
	"github.com/socialdata/socialdata/providers/github"
	"github.com/socialdata/socialdata/providers/mock"
)

const most = 5

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	id, handle := platform.Mock, "ann"
	if len(args) == 2 {
		id, handle = platform.ID(args[0]), args[1]
	}
	options := []socialdata.Option{
		socialdata.WithProviders(mock.New(mock.Config{}), github.New(github.Config{}), bluesky.New(bluesky.Config{})),
	}
	client, err := socialdata.New(options...)
	if err != nil {
		return err
	}
	profile, err := client.Profile(ctx, socialdata.ProfileRequest{Platform: id, Handle: handle})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s on %s\n", profile.Data.Handle, profile.Data.Platform); err != nil {
		return err
	}
	n := 0
	for post, err := range socialdata.Walk(ctx, client.Posts, socialdata.PostsRequest{Platform: id, Handle: handle}) {
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "- %s\n", post.URL); err != nil {
			return err
		}
		if n++; n == most {
			break
		}
	}
	return nil
}
