package tiktok

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dates"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// videoQuery is the request body of video/query, which covers at most 30 days.
// https://developers.tiktok.com/doc/research-api-specs-query-videos
type videoQuery struct {
	Query    conditions   `json:"query"`
	Start    string       `json:"start_date"` // a day in UTC, inclusive
	End      string       `json:"end_date"`   // a day in UTC, inclusive
	MaxCount int          `json:"max_count"`
	Cursor   *json.Number `json:"cursor,omitempty"`
	SearchID string       `json:"search_id,omitempty"`
}

type conditions struct {
	And []condition `json:"and"`
}

type condition struct {
	Operation string   `json:"operation"`
	Field     string   `json:"field_name"`
	Values    []string `json:"field_values"`
}

// videoList is the answer to a [videoQuery].
type videoList struct {
	Data struct {
		Videos   wire.Rows[video] `json:"videos"`
		SearchID wire.ID          `json:"search_id"`
		paging
	} `json:"data"`
}

// query reads one page. If says is true, the query contains words of the caller.
func (c *client) query(ctx context.Context, q videoQuery, says bool) (a videoList, err error) {
	q.MaxCount = pageSize
	r := ask("video/query/", videoFields, q)
	r.Input = says
	_, err = c.http.Read(ctx, r, &a)
	return a, err
}

const (
	day     = "20060102"
	window  = 30 // days that one query covers
	patient = 4  // queries for one page: an account may have been inactive for months
)

// walk is a search from new to old, one window at a time.
type walk struct {
	query        conditions
	since, until time.Time // inclusive
	says         bool      // the query contains words of the caller
}

// place is the position of a walk: the last day of the window, and the cursor within the window.
type place struct{ end, cursor, search string }

// String returns the cursor of a page.
func (p place) String() string { return p.end + "." + p.cursor + "." + p.search }

// from parses a cursor.
func (w walk) from(cursor string) (place, error) {
	if cursor == "" {
		return place{end: w.until.UTC().Format(day)}, nil
	}
	parts := strings.SplitN(cursor, ".", 3)
	if _, err := time.Parse(day, parts[0]); err != nil || len(parts) < 3 {
		return place{}, providers.ErrCursor
	}
	return place{parts[0], parts[1], parts[2]}, nil
}

// begins returns the first day of the window at p.
func (w walk) begins(p place) time.Time {
	end, _ := time.Parse(day, p.end) // it has been parsed or written by us
	start, since := end.AddDate(0, 0, 1-window), w.since.UTC().Truncate(24*time.Hour)
	if start.Before(since) {
		return since
	}
	return start
}

// older returns the first place of the window before p.
func (w walk) older(p place) (_ place, more bool) {
	end := w.begins(p).AddDate(0, 0, -1)
	return place{end: end.Format(day)}, !end.Before(w.since.UTC().Truncate(24 * time.Hour))
}

// rows reads a page of a walk. The page is empty only if the query limit for one page is reached.
func rows[O any](
	ctx context.Context, c *client, w walk, cursor string, convert func(v video, raw json.RawMessage) (O, bool),
) (page providers.Page[O], err error) {
	p, err := w.from(cursor)
	if err != nil {
		return page, err
	}
	for range patient {
		a, err := c.query(ctx, videoQuery{
			Query: w.query, Start: w.begins(p).Format(day), End: p.end, Cursor: at(p.cursor), SearchID: p.search,
		}, w.says && cursor == "")
		if err != nil {
			return providers.Page[O]{}, blameCursor(err, cursor)
		}
		if page.Items, err = wire.Items(ctx, "data.videos", a.Data.Videos, convert); err != nil {
			return providers.Page[O]{}, err
		}
		next, err := a.Data.next(ctx)
		if err != nil {
			return providers.Page[O]{}, err
		}
		more := true
		if next != "" && next != p.cursor { // a cursor that does not advance has nothing more
			p.cursor, p.search = next, string(a.Data.SearchID)
		} else {
			p, more = w.older(p)
		}
		if page.Next = ""; more {
			page.Next = p.String()
		}
		if len(page.Items) > 0 || !more {
			break
		}
	}
	return page, nil
}

// search searches posts by words, or by a hashtag.
func (c *client) search(
	ctx context.Context, q providers.SearchQuery, cursor string,
) (providers.Page[schema.SearchResult], error) {
	w := walk{since: time.UnixMilli(firstPosts), until: time.Now(), says: true}
	if !q.Since.IsZero() {
		w.since = q.Since
	}
	if !q.Until.IsZero() {
		w.until = q.Until.Add(-1)
	}
	words := condition{"EQ", "keyword", []string{q.Query}}
	if tag, ok := strings.CutPrefix(q.Query, "#"); ok {
		words = condition{"EQ", "hashtag_name", []string{tag}}
	}
	w.query.And = []condition{words}
	if q.Region != "" {
		w.query.And = append(w.query.And, condition{"EQ", "region_code", []string{q.Region}})
	}
	return rows(ctx, c, w, cursor, func(v video, raw json.RawMessage) (schema.SearchResult, bool) {
		p := v.post("", raw)
		return schema.Result(&p), dates.Within(p.CreatedAt, q.Since, q.Until)
	})
}
