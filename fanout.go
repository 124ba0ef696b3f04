package socialdata

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/cache"
	"github.com/socialdata/socialdata/credits"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/schema"
)

const defaultWait = 8 * time.Second

// searchAll asks several platforms at once and answers when all have come to an end, or when the caller has waited
// long enough and something is there: the rest is then a job.
func (c *Client) searchAll(ctx context.Context, o *Operation, call Call, in args) (*Answer, error) {
	s, err := c.planSearch(ctx, in)
	if err != nil {
		return nil, err
	}
	return c.once(ctx, o, call, s.price(), func(once string) (*Answer, error) {
		j, err := c.startJob(ctx, s, call.RequestID, once)
		if err != nil {
			return nil, err
		}
		j.waitFirst(ctx, s.wait)
		return c.firstAnswer(ctx, j, call.RequestID)
	})
}

// search is a fan-out search that has been checked: who is asked what.
type search struct {
	parts    []searchPart
	failed   []platform.ID // named, but they cannot search or cannot filter so
	bound    string        // what its cursor is bound to
	overflow string        // id of results held back from the page before
	seen     []uint64      // URLs of the pages before, hashed
	wait     time.Duration
	recent   bool // newest first, rather than by rank
	enrich   bool
	raw      bool
	first    bool // the first page
}

// searchPart is one platform's share.
type searchPart struct {
	platform platform.ID
	q        *query
}

func (s *search) price() int64 {
	n := int64(0)
	for _, p := range s.parts {
		n += p.q.quote.Base
	}
	return n + s.enrichPrice()
}

// enrichPrice is for all platforms together. Results that were held back are given as they were, and cost nothing.
func (s *search) enrichPrice() int64 {
	if s.enrich && len(s.parts) > 0 {
		return credits.EnrichPrice
	}
	return 0
}

// searchCursor is where a fan-out walk stands.
type searchCursor struct {
	Issued   int64  `json:"t"`
	Overflow string `json:"o,omitempty"`
	Raw      bool   `json:"r,omitempty"` // include_raw and enrich of the page that made it
	Enrich   bool   `json:"e,omitempty"`
	searchPlace
	Kept string `json:"k,omitempty"` // id of the place, where it is too long for a cursor
}

// searchPlace is one inner cursor for each platform that has more, and what the platforms together have shown.
type searchPlace struct {
	Inner map[platform.ID][]byte `json:"i,omitempty"`
	Seen  []byte                 `json:"s,omitempty"` // URLs, hashed
}

// maxURLs is how many URLs are remembered along a fan-out walk. A platform's own cursor knows its own results; these
// are for what several of them give.
const maxURLs = 300

func (c *Client) planSearch(ctx context.Context, in args) (*search, error) {
	s := &search{
		wait: in.seconds("wait_s", defaultWait), recent: in.get("sort") == "recent", enrich: in.get("enrich") != "", raw: in.flag("include_raw"), first: true,
	}
	named, err := namedPlatforms(in.get("platforms"), s.enrich)
	if err != nil {
		return nil, err
	}
	s.bound = searchBinding(in)
	var inner map[platform.ID]*cursor
	if given := in.get("cursor"); given != "" {
		if inner, err = c.resumeSearch(ctx, s, given); err != nil {
			return nil, err
		}
	}
	reach := named
	if reach == nil {
		reach = c.searchable(s.enrich)
	}
	return s, c.planParts(s, in, reach, named != nil, inner)
}

// planParts plans the search of each platform in reach. A platform that cannot search, or cannot filter as asked,
// fails when it was named and is left out when it was not.
func (c *Client) planParts(s *search, in args, reach []platform.ID, named bool, inner map[platform.ID]*cursor) error {
	var refusal, lacking error
	for _, id := range reach {
		if inner != nil && inner[id] == nil {
			continue // exhausted, or failed on an earlier page
		}
		q, err := c.planPart(in, id)
		if at := inner[id]; err == nil && at != nil {
			q.continueAt(at)
			err = q.stick()
		}
		if err != nil {
			if p, ok := errors.AsType[*problem.Error](err); ok && p.Code == problem.InvalidRequest {
				refusal = err
			} else {
				lacking = err
			}
			if named {
				s.failed = append(s.failed, id)
			}
			continue
		}
		s.parts = append(s.parts, searchPart{id, q})
	}
	switch {
	case len(s.parts) > 0 || s.overflow != "":
		return nil
	case refusal != nil:
		return refusal
	case len(reach) == 1 && lacking != nil:
		return lacking
	}
	return problem.New(problem.PlatformUnavailable, "none of the platforms can search: GET /v1/{platform}/search is not offered by %s", joinIDs(reach))
}

func joinIDs(ids []platform.ID) string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, string(id))
	}
	return strings.Join(out, ", ")
}

// namedPlatforms reads the list of platforms; nil means none was given.
func namedPlatforms(list string, enrich bool) ([]platform.ID, error) {
	if list == "" {
		return nil, nil
	}
	var out []platform.ID
	for word := range strings.SplitSeq(list, ",") {
		id := platform.ID(strings.TrimSpace(word))
		info, ok := platform.Lookup(id)
		switch {
		case !ok:
			return nil, problem.New(problem.InvalidRequest, "parameter \"platforms\": there is no platform %q", word)
		case enrich && info.NoEnrich:
			return nil, problem.New(problem.InvalidRequest, "parameter \"enrich\" cannot be used on %s: its content may not be sent through enrichment", id)
		case !slices.Contains(out, id):
			out = append(out, id)
		}
	}
	return out, nil
}

// searchable returns the platforms that are asked when none is named. The sandbox, whose data is invented, is asked
// only when there is nothing else.
func (e *engine) searchable(enrich bool) []platform.ID {
	var out []platform.ID
	for _, info := range platform.All() {
		serves := slices.ContainsFunc(e.links[info.ID], func(l *link) bool { return l.serves[providers.OpSearch] })
		if serves && (!enrich || !info.NoEnrich) {
			out = append(out, info.ID)
		}
	}
	if len(out) > 1 {
		out = slices.DeleteFunc(out, func(id platform.ID) bool { return id == platform.Mock })
	}
	return out
}

// planPart plans one platform's search exactly as /v1/{platform}/search would, so that both share one cache entry.
func (c *Client) planPart(in args, id platform.ID) (*query, error) {
	params := url.Values{}
	for _, name := range []string{"query", "kind", "sort", "since", "until", "lang", "fresh"} {
		v := in.get(name)
		if name == "sort" && !c.filtersBy(id, name, v) {
			continue // the merge puts the results in order anyway
		}
		if v != "" {
			params.Set(name, v)
		}
	}
	o := &opSearch.Operation
	bound, perr := bind(o.Params, params)
	if perr != nil {
		return nil, perr
	}
	info, _ := platform.Lookup(id)
	return c.planFor(o, info, bound)
}

func (e *engine) filtersBy(id platform.ID, name, value string) bool {
	return slices.ContainsFunc(e.links[id], func(l *link) bool {
		values, ok := l.p.Filters[providers.OpSearch][name]
		return l.serves[providers.OpSearch] && ok && (values == nil || slices.Contains(values, value))
	})
}

func searchBinding(in args) string {
	var b strings.Builder
	b.WriteString("search_all")
	for i, p := range in.params {
		switch p.Name {
		case "cursor", "fresh", "include_raw", "enrich", "wait_s":
		default:
			b.WriteString("|" + p.Name + "=" + strconv.Quote(in.values[i]))
		}
	}
	return b.String()
}

func (c *Client) resumeSearch(ctx context.Context, s *search, given string) (map[platform.ID]*cursor, error) {
	payload, err := c.sealer.open(s.bound, given)
	var outer searchCursor
	if err == nil {
		err = json.Unmarshal(payload, &outer)
	}
	if err != nil {
		return nil, problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\" is not a cursor of this request; pass meta.next_cursor of the page before unchanged, with the same parameters")
	}
	if c.now().Sub(time.Unix(outer.Issued, 0)) > cursorLife {
		return nil, problem.New(problem.InvalidRequest, "parameter \"cursor\": cursor expired, start again")
	}
	if outer.Overflow != "" && (outer.Raw != s.raw || outer.Enrich != s.enrich) {
		return nil, problem.New(problem.InvalidRequest, "parameter \"cursor\": this page begins with results of the page before; pass the same include_raw and enrich")
	}
	s.overflow, s.first = outer.Overflow, false
	if outer.Kept != "" {
		if err := c.recall(ctx, outer.Kept, &outer.searchPlace); err != nil {
			return nil, err
		}
	}
	if len(outer.Seen) > 0 {
		d := decoder{b: outer.Seen}
		s.seen = d.ids()
	}
	inner := map[platform.ID]*cursor{}
	for id, b := range outer.Inner {
		if inner[id], err = decodeCursor(b); err != nil {
			return nil, problem.Wrap(err, problem.InvalidRequest, "parameter \"cursor\" cannot be read; start again without it")
		}
	}
	return inner, nil
}

// nextSearch seals the cursor of the next page; "" when every platform is at its end and nothing was held back.
func (c *Client) nextSearch(ctx context.Context, j *job, overflow string) (string, error) {
	outer := searchCursor{Issued: c.now().Truncate(time.Hour).Unix(), Overflow: overflow, searchPlace: searchPlace{Inner: map[platform.ID][]byte{}}}
	if overflow != "" {
		outer.Raw, outer.Enrich = j.search.raw, j.search.enrich
	}
	for _, p := range j.Parts {
		if p.State != schema.OK || p.Next == "" {
			continue
		}
		var err error
		if outer.Inner[p.Platform], err = c.sealer.open(p.Bound, p.Next); err != nil {
			return "", fmt.Errorf("socialdata: own cursor of %s: %w", p.Platform, err)
		}
	}
	if len(outer.Inner) == 0 && overflow == "" {
		return "", nil
	}
	if len(j.Parts) > 1 || len(j.Seen) > 0 {
		outer.Seen = appendIDs(nil, keepLast(j.urls(), maxURLs))
	}
	next, err := c.sealSearch(j, outer)
	if err != nil || len(next) <= maxCursor {
		return next, err
	}
	if outer.Kept, err = c.note(ctx, outer.searchPlace); err != nil {
		return "", err
	}
	outer.searchPlace = searchPlace{}
	return c.sealSearch(j, outer)
}

// urls returns the URLs of the pages before and of this one, hashed. The caller holds mu.
func (j *job) urls() []uint64 {
	out := slices.Clone(j.Seen)
	for _, p := range j.told() {
		for _, raw := range p.results() {
			out = append(out, hashOf(newRanked(raw, 0).url))
		}
	}
	return out
}

func (c *Client) sealSearch(j *job, outer searchCursor) (string, error) {
	b, err := json.Marshal(outer)
	return c.sealer.seal(j.Bound, b), err
}

// partResult is what one platform's search gave.
type partResult struct {
	data     []byte // the results, with raw and enrichment as asked
	entry    *cache.Entry
	state    schema.CacheState
	enriched bool // nothing failed to be enriched
}

// readPart makes one platform's search and gives its results their raw and enrichment.
func (c *Client) readPart(ctx context.Context, s *search, q *query) (r partResult, err error) {
	defer c.rescue(ctx, q, &err) // nobody above could: this is a goroutine of its own
	r.entry, r.state, err = c.lookup(ctx, q)
	if err != nil {
		return r, err
	}
	r.data, r.enriched = r.entry.Data, true
	if s.raw {
		if r.data, err = splice(r.data, "raw", r.entry.Raw); err != nil {
			return r, err
		}
	}
	if s.enrich && !bytes.Equal(r.data, []byte("[]")) {
		a := &Answer{Data: r.data}
		r.enriched = c.enrichData(ctx, q.op, r.entry, a)
		r.data = a.Data
	}
	return r, nil
}
