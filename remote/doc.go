// Package remote is a client of the HTTP API with the methods of [socialdata.Client]: the same requests, the same answers
// and the same errors.
//
//	client, err := remote.New("https://data.example.com", remote.Config{Key: os.Getenv("SOCIALDATA_KEY")})
//	profile, err := client.Profile(ctx, socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "octocat"})
//	fmt.Println(profile.Data.Handle, profile.Meta.Cache)
//
// Lists are read with [socialdata.Walk] and [socialdata.Pages], which take its methods as they take those of the other. A
// program that is to run on either asks for what it needs:
//
//	type Reader interface {
//		Profile(context.Context, socialdata.ProfileRequest) (*schema.Envelope[schema.Profile], error)
//		Posts(context.Context, socialdata.PostsRequest) (*schema.Envelope[[]schema.Post], error)
//	}
//
// Every error is a *[problem.Error], also when the service cannot be reached or something else answers in its place: the
// code is then platform_unavailable. A call that may succeed later is repeated, after the time that the service names in
// Retry-After, or else with growing pauses. Each charged call has an idempotency key, so that it is charged once however
// often it is sent. Answers are kept in memory and asked for by their ETag: one that has not changed is not sent again.
//
// Only [Client.Health] differs: it has an error. What belongs to the engine (its options, keys and accounts) is not here.
package remote
