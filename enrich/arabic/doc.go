// Package arabic is the embedded model of Arabic: it finds the dialect, sentiment, entities and topics of a post. It
// uses no network, no cgo and no download; one model file of 9 MB is part of the program.
//
//	model := arabic.New()
//	enrichment, err := model.Enrich(ctx, "والله الحفلة كانت تحفة أوي 😍 #القاهرة")
//
// A [Model] is loaded once and is safe for concurrent use. The first [MaxBytes] of a text are read.
//
// MODEL.md describes how the model was made, its accuracy, its limits and the licences of its data. The code that
// trains and measures it is a module of its own in the directory lab.
package arabic
