// Package remote is a client of the HTTP API. It is a [socialdata.Reader], as [socialdata.Client] is: the same methods,
// requests, answers and errors.
//
//	client, err := remote.New("https://data.example.com", remote.Config{Key: os.Getenv("SOCIALDATA_KEY")})
//	profile, err := client.Profile(ctx, socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "octocat"})
//	fmt.Println(profile.Data.Handle, profile.Meta.Cache)
//
// A program for either takes a [socialdata.Reader]. Lists are read with [socialdata.Walk] and [socialdata.Pages], and many
// objects with [socialdata.Batch].
//
// Every error is a *[problem.Error]. Its code is platform_unavailable when the service cannot be reached, or when the
// answer is not the service's. A call that may succeed later is repeated, after the time in Retry-After, or else with
// increasing pauses. Each charged call has an idempotency key, so that it is charged once however often it is sent.
// Answers are stored in memory with their ETag: an answer that has not changed is not sent again.
package remote
