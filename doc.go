// Package socialdata is the unified social and commerce data engine: typed, normalised, public data from many
// platforms through one [Client].
//
//	client, err := socialdata.New(
//		socialdata.WithProviders(github.New(github.Config{}), mock.New(mock.Config{})),
//	)
//	profile, err := client.Profile(ctx, socialdata.ProfileRequest{Platform: platform.GitHub, Handle: "octocat"})
//	fmt.Println(profile.Data.Handle, profile.Meta.Cache)
//
// Every read goes the same way: it is checked, priced and its price held; answered from the cache or by the first
// provider that can; completed, enriched if that was asked for, and charged. A read that fails costs nothing. Every
// error is a *[problem.Error]. Lists are walked with [Walk], or with the cursor in Meta.NextCursor.
//
// Providers, ledgers, caches, key stores and the rest are passed in as options; without any of them the client keeps
// all in memory and charges nothing. HTTP is the business of the package server, which is a thin skin over this one.
package socialdata
