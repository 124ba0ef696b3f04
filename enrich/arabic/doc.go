// Package arabic reads dialect, sentiment, entities and topics out of Arabic posts, offline, with one embedded model.
//
//	model := arabic.New()
//	enrichment, err := model.Enrich(ctx, "والله الحفلة كانت تحفة أوي 😍")
//
// Method, data, scores and limits are in README.md beside this file.
package arabic
