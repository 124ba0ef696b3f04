// Package remote is a client of the HTTP API with the methods of [socialdata.Client]: the same requests, the same
// answers and the same errors.
//
//	client, err := remote.New("https://data.example.com", remote.Config{Key: os.Getenv("SOCIALDATA_KEY")})
//	profile, err := client.Profile(ctx, socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "octocat"})
//	fmt.Println(profile.Data.Handle, profile.Meta.Cache)
//
// Lists are read with [socialdata.Walk] and [socialdata.Pages], which accept the methods of both clients. A program for
// either declares what it needs:
//
//	type Reader interface {
//		Profile(context.Context, socialdata.ProfileRequest) (*schema.Envelope[schema.Profile], error)
//		Posts(context.Context, socialdata.PostsRequest) (*schema.Envelope[[]schema.Post], error)
//	}
//
// Every error is a *[problem.Error]. Its code is platform_unavailable when the service cannot be reached, or when the
// answer is not the service's. A call that may succeed later is repeated, after the time in Retry-After, or else with
// increasing pauses. Each charged call has an idempotency key, so that it is charged once however often it is sent.
// Answers are stored in memory with their ETag: an answer that has not changed is not sent again.
//
// Only [Client.Health] differs: it returns an error. What belongs to the engine (its options, keys and accounts) is
// missing.
package remote
