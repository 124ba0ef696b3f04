package operation

// Page selects a page of a list.
type Page struct {
	// Pages, 1 to 10, is how many pages of the platform one call reads, at the price of those that it has read; 0 means 1.
	Pages int `param:"pages"`
	// Cursor is the Meta.NextCursor of the previous page; "" is the first page. Walks set it.
	Cursor string `param:"cursor"`
	// Limit, at most 1,000, is the most rows that are returned; 0 is no limit. What a page of a platform has more is left
	// out, at the same price, and there is no Meta.NextCursor then; lists of the account's own go on behind the last row.
	// Walks return no more than Limit rows of all pages together.
	Limit int `param:"limit"`
}

// Paging returns p, for functions that turn the pages of any request that embeds it.
func (p *Page) Paging() *Page { return p }
