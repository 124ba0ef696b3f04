package credits

// EnrichPrice is the price of the enrichment of one answer, in credits.
const EnrichPrice = 3

// Quote is the price of one call, in credits.
type Quote struct {
	Base   int64 // the platform's part, doubled when the cache is skipped
	Enrich int64 // the enrichment's part, dropped when it fails
}

// Total returns the highest possible price of the call.
func (q Quote) Total() int64 { return q.Base + q.Enrich }

// Price returns the price of a call on a platform with the given base price. Fresh doubles only the base.
func Price(base int64, fresh, enrich bool) Quote {
	q := Quote{Base: base}
	if fresh {
		q.Base *= 2
	}
	if enrich {
		q.Enrich = EnrichPrice
	}
	return q
}
