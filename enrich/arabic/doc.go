// Package arabic is the embedded model of Arabic: it finds the dialect, sentiment, entities and topics of a post. It uses
// no network, no cgo and no download; one model file of 10 MB is part of the program.
//
//	model := arabic.New()
//	enrichment, err := model.Enrich(ctx, "والله الحفلة كانت تحفة أوي 😍 #القاهرة")
//
// A [Model] is read once and is safe for concurrent use. The first [MaxBytes] of a text are read.
//
// MODEL.md says how the model was made, how well it does, where it fails and under which licences its data are. The
// laboratory that trains and measures it is a module of its own in the folder lab.
package arabic
