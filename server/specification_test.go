package server_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/internal/enginetest"
	"github.com/socialdata/socialdata/keys"
)

// The tables of SPECIFICATION.md, as data. They are written from its text only, not from our code, and are compared
// with the description and with the answers of the sandbox.

// specifiedPlatforms are the platforms and their base credits; "" where the specification does not show them.
const specifiedPlatforms = `
amazon 1
apple_music 1
appstore 1
bluesky 1
facebook 1
github 1
google 1
hackernews 1
instagram 1
kick 1
kwai 1
linktree 1
pinterest 1
reddit 1
rumble 1
soundcloud 1
spotify 1
threads 1
tiktok 1
truthsocial 1
twitch 1
x 1
youtube 1
linkedin 2
snapchat 2
telegram 2
salla
zid
mock`

// specifiedResources are the resources: each line is a field and its type. A field in brackets is optional, a type with
// a question mark may be null. Limits follow the type: of the value for a number, of the count of characters for a
// string. Words separated by bars are the possible values.
var specifiedResources = map[string]string{
	"Meta": `
		credits_used integer >=0
		credits_remaining integer >=0
		cache HIT|MISS
		data_age_s integer >=0
		request_id string >=1
		[next_cursor] string >=1
		[raw] any
		[platforms] object of ok|error|pending
		[job_id] string >=1`,
	"Actor": `
		platform platform
		id string >=1
		handle string >=1
		display_name string?
		avatar_url uri?`,
	"Profile": shared + `
		handle string >=1
		display_name string?
		bio string?
		avatar_url uri?
		verified boolean
		followers integer? >=0
		following integer? >=0
		posts_count integer? >=0
		lang string? >=2
		country string? >=2 <=2
		links array of uri`,
	"Post": shared + `
		author Actor
		text string
		lang string? >=2
		created_at date-time?
		media array of Media
		engagement Engagement
		hashtags array of string
		mentions array of string
		is_ad boolean`,
	"Media": `
		type image|video|audio
		url uri
		thumbnail_url uri?
		[duration_s] number >=0`,
	"Engagement": `
		likes integer? >=0
		comments integer? >=0
		shares integer? >=0
		views integer? >=0
		saves integer? >=0`,
	"Comment": shared + `
		post_id string >=1
		author Actor
		text string
		lang string? >=2
		created_at date-time?
		likes integer? >=0
		reply_to_id string?`,
	"Audience": shared + `
		handle string >=1
		countries array of AudienceCountry`,
	"AudienceCountry": `
		country string? >=2 <=2
		name string
		share number >=0 <=1
		count integer? >=0`,
	"LiveStream": shared + `
		host Actor
		is_live boolean
		title string?
		viewers integer? >=0
		likes integer? >=0
		started_at date-time?
		thumbnail_url uri?`,
	"LinkedProfile": shared + `
		handle string >=1
		confidence number >=0 <=1
		evidence array of string`,
	"Transcript": shared + `
		post_id string >=1
		lang string?
		text string
		segments array of TranscriptSegment`,
	"TranscriptSegment": `
		start_s number? >=0
		end_s number? >=0
		text string`,
	"Suggestion": shared + `
		text string >=1
		kind query|profile
		profile Actor?
		position integer? >=0`,
	"Collection": shared + `
		kind playlist|board|highlight|album|podcast
		title string
		description string?
		owner Actor?
		items_count integer? >=0
		cover_url uri?
		created_at date-time?`,
	"Track": shared + `
		title string
		artists array of string
		album string?
		duration_s number? >=0
		cover_url uri?
		audio_url uri?
		released_at date-time?
		plays integer? >=0
		posts_count integer? >=0
		explicit boolean?`,
	"Product": shared + `
		store StoreSummary
		title string
		description string?
		price Price
		images array of uri
		in_stock boolean
		rating number? >=0 <=5
		reviews_count integer? >=0
		categories array of string`,
	"StoreSummary": `
		platform platform
		id string >=1
		name string
		url uri`,
	"Price": `
		amount number >=0
		currency string >=3 <=3`,
	"Review": shared + `
		product_id string >=1
		author Actor
		rating number >=0 <=5
		text string
		lang string?
		created_at date-time?`,
	"Ad": shared + `
		advertiser AdvertiserSummary
		text string
		headline string?
		media array of Media
		call_to_action string?
		landing_url uri?
		started_at date-time?
		ended_at date-time?
		is_active boolean?
		countries array of string
		formats array of string`,
	"AdvertiserSummary": `
		id string?
		name string
		url uri?`,
	"Advertiser": shared + `
		name string
		avatar_url uri?
		country string?
		ads_count integer? >=0
		domains array of string`,
	"Event": shared + `
		name string
		description string?
		starts_at date-time?
		ends_at date-time?
		location string?
		host Actor?
		cover_url uri?
		going integer? >=0
		interested integer? >=0
		is_online boolean?`,
	"Enrichment": `
		dialect gulf|egyptian|levantine|maghrebi|msa|mixed|not_arabic
		sentiment Sentiment
		entities array of Entity
		topics array of string`,
	"Sentiment": `
		label positive|neutral|negative
		score number >=-1 <=1`,
	"Entity": `
		text string >=1
		type string >=1`,
	"WebResult": shared + `
		kind web
		title string
		snippet string?
		domain string
		position integer? >0
		published_at date-time?`,
	"Me": `
		key Me.key
		credits Me.credits
		limits Me.limits`,
	"Me.key": `
		id string >=1
		name string
		prefix string >=1
		environment live|test
		created_at date-time
		last_used_at date-time?`,
	"Me.credits": `
		balance integer >=0`,
	"Me.limits": `
		rate RateLimit?`,
	"RateLimit": `
		capacity integer >0
		refill_per_s number >0
		remaining number >=0`,
	"Health": `
		status ok
		environment string
		platforms object of ok|degraded|down|unknown`,
	"Problem": `
		type uri
		title string
		status integer >=400 <=599
		detail string
		code ` + specifiedCodes + `
		request_id string >=1
		[retry_after] integer >=0`,
}

const shared = `
		platform platform
		id string >=1
		url uri
		fetched_at date-time
		source source
		[raw] any
		[enrichment] Enrichment?`

const specifiedCodes = "invalid_request|unauthorized|insufficient_credits|not_found|rate_limited|platform_unavailable|" +
	"upstream_timeout|internal_error"

// specifiedStatuses are the statuses of the codes; the specification does not show that of internal_error.
var specifiedStatuses = map[string]int{
	"invalid_request": 400, "unauthorized": 401, "insufficient_credits": 402, "not_found": 404, "rate_limited": 429,
	"platform_unavailable": 503, "upstream_timeout": 504,
}

// specifiedKinds are the objects in a search result, by its kind.
var specifiedKinds = map[string]string{
	"profile": "Profile", "post": "Post", "comment": "Comment", "product": "Product", "review": "Review", "track": "Track",
	"collection": "Collection", "web": "WebResult",
}

// specifiedRoutes are the routes. Parameters with an exclamation mark are required; an empty list of errors is one that
// the specification does not show.
var specifiedRoutes = []struct{ path, params, data, errors string }{
	{"/health", "", "Health", ""},
	{"/v1/me", "", "Me", "401 429"},
	{"/v1/{platform}/profile", "handle! include_raw fresh enrich", "Profile", "400 401 402 404 429 503 504"},
	{"/v1/{platform}/posts", "handle! cursor include_raw fresh enrich", "array of Post", "400 401 402 404 429 503 504"},
	{"/v1/{platform}/post", "id! include_raw fresh enrich", "Post", "400 401 402 404 429 503 504"},
	{"/v1/{platform}/comments", "post_id! cursor include_raw fresh enrich", "array of Comment", "400 401 402 404 429 503 504"},
	{"/v1/{platform}/followers", "", "array of Profile", ""},
	{"/v1/facebook/event", "id! fresh include_raw", "Event", ""},
	{"/v1/raw/{provider}/{path}", "", "any", ""},
}

// specifiedLifetimes are the cache lifetimes of answers, by kind of data, with the operations of each.
var specifiedLifetimes = map[string]time.Duration{
	"profile": time.Hour, "posts": 15 * time.Minute, "post": 15 * time.Minute, "comments": 10 * time.Minute,
	"search": 5 * time.Minute,
}

// ours are fields that the specification does not have. They must be optional.
var ours = map[string][]string{"Health": {"dependencies"}, "Meta": {"errors"}}

// specField is a field of a resource.
type specField struct {
	name     string
	required bool
	typ      string
}

func fieldsOf(resource string) []specField {
	var out []specField
	for line := range strings.Lines(specifiedResources[resource]) {
		name, typ, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			continue
		}
		bare := strings.Trim(name, "[]")
		out = append(out, specField{bare, bare == name, typ})
	}
	return out
}

func TestTheDescriptionHasTheFieldsOfTheSpecification(t *testing.T) {
	t.Parallel()
	doc := newDescription(t)
	for resource := range specifiedResources {
		at := []string{"components", "schemas", resource}
		if part, found := strings.CutPrefix(resource, "Me."); found { // the specification does not name its parts
			at = []string{"components", "schemas", "Me", "properties", part}
		}
		component, ok := doc.find(at...).(map[string]any)
		if !ok {
			t.Errorf("%s is not described", resource)
			continue
		}
		want := map[string]string{}
		for _, f := range fieldsOf(resource) {
			want[f.name] = fmt.Sprintf("%s, required: %t", sorted(f.typ), f.required)
		}
		got := map[string]string{}
		for name, p := range component["properties"].(map[string]any) {
			if slices.Contains(ours[resource], name) {
				continue
			}
			typ := doc.written(p.(map[string]any))
			if resource == "Me" {
				typ = "Me." + name
			}
			required := slices.Contains(component["required"].([]any), any(name))
			got[name] = fmt.Sprintf("%s, required: %t", sorted(typ), required)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-specification +description):\n%s", resource, diff)
		}
	}
	for kind, resource := range specifiedKinds {
		result := doc.find("components", "schemas", strings.ToUpper(kind[:1])+kind[1:]+"Result").(map[string]any)
		required := result["required"].([]any)
		if got := doc.written(result["properties"].(map[string]any)["kind"].(map[string]any)); got != kind ||
			!slices.Contains(required, any("kind")) {
			t.Errorf("the kind of a %s is described as %s", kind, got)
		}
		for _, f := range fieldsOf(resource) {
			if f.required && f.name != "kind" && !slices.Contains(required, any(f.name)) {
				t.Errorf("%s: a search result need not have %s", resource, f.name)
			}
		}
	}
}

// written returns the schema of a field in the notation of [specifiedResources].
func (d *description) written(s map[string]any) string {
	if name, ok := strings.CutPrefix(asText(s["$ref"]), "#/components/schemas/"); ok {
		switch target := d.resolve(s); {
		case name == "PlatformID":
			return "platform"
		case target["type"] == "object":
			return name
		default:
			return d.written(target)
		}
	}
	if of, ok := s["oneOf"].([]any); ok && len(of) == 2 && asText(of[1].(map[string]any)["type"]) == "null" {
		return d.written(of[0].(map[string]any)) + "?"
	}
	if word, ok := s["const"].(string); ok {
		return word
	}
	if words, ok := s["enum"].([]any); ok {
		var out []string
		for _, w := range words {
			out = append(out, w.(string))
		}
		return strings.Join(out, "|")
	}
	typ, null := asText(s["type"]), ""
	if list, ok := s["type"].([]any); ok {
		typ, null = list[0].(string), "?"
	}
	switch typ {
	case "":
		return "any"
	case "array":
		return "array of " + d.written(s["items"].(map[string]any))
	case "object":
		return "object of " + d.written(s["additionalProperties"].(map[string]any))
	case "string":
		if format := asText(s["format"]); format != "" {
			typ = format
		}
		if s["pattern"] == "^(official|own|upstream:.*)$" {
			typ = "source"
		}
	}
	return typ + null + bounds(s, typ)
}

func bounds(s map[string]any, typ string) string {
	out := ""
	for _, b := range []struct{ key, sign string }{
		{"minimum", ">="}, {"exclusiveMinimum", ">"}, {"minLength", ">="}, {"maximum", "<="}, {"maxLength", "<="},
	} {
		n, ok := s[b.key].(json.Number)
		switch {
		case !ok:
		case typ == "integer" && b.key == "minimum" && n == "1":
			out += " >0"
		default:
			out += " " + b.sign + n.String()
		}
	}
	return out
}

func asText(v any) string {
	s, _ := v.(string)
	return s
}

// sorted returns a type with its words sorted.
func sorted(typ string) string {
	before, words, found := strings.Cut(typ, " of ")
	if !found {
		before, words = "", typ
	} else {
		before += " of "
	}
	if !strings.Contains(words, "|") {
		return typ
	}
	list := strings.Split(words, "|")
	slices.Sort(list)
	return before + strings.Join(list, "|")
}

func TestTheDescriptionHasThePlatformsOfTheSpecification(t *testing.T) {
	t.Parallel()
	s, doc := open(t, enginetest.Config{}), newDescription(t)
	var all []struct {
		Platform string
		Base     int64 `json:"base_credits"`
	}
	if err := json.Unmarshal(s.get(t, "/v1/platforms").envelope(t).Data, &all); err != nil {
		t.Fatal(err)
	}
	want, got, listed, described := map[string]string{}, map[string]string{}, []string{}, []string{}
	for line := range strings.Lines(strings.TrimSpace(specifiedPlatforms)) {
		name, base, _ := strings.Cut(strings.TrimSpace(line), " ")
		listed = append(listed, name)
		if base != "" {
			want[name] = base
		}
	}
	for _, p := range all {
		if _, shown := want[p.Platform]; shown {
			got[p.Platform] = strconv.FormatInt(p.Base, 10)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("base credits (-specification +answer):\n%s", diff)
	}
	for _, word := range doc.find("components", "schemas", "PlatformID", "enum").([]any) {
		described = append(described, word.(string))
	}
	slices.Sort(listed)
	slices.Sort(described)
	if diff := cmp.Diff(listed, described); diff != "" || len(all) != len(listed) {
		t.Errorf("%d platforms are listed (-specification +description):\n%s", len(all), diff)
	}
}

// specifiedGroups are the groups of operations, with the operations that the specification's words describe.
const specifiedGroups = `
account usage platforms
profiles profile
posts posts post
search search
comments comments
media transcript reels collection
music track tracks
communities community community/posts
shops products product reviews
ads ads ads/search
events events event
commerce store products product reviews
enrich
raw`

func TestTheDescriptionHasTheGroupsOfTheSpecification(t *testing.T) {
	t.Parallel()
	doc := newDescription(t)
	operations := map[string][]string{} // by group
	for path, methods := range doc.find("paths").(map[string]any) {
		if get, ok := methods.(map[string]any)["get"].(map[string]any); ok {
			for _, group := range get["tags"].([]any) {
				operations[group.(string)] = append(operations[group.(string)], path)
			}
		}
	}
	for line := range strings.Lines(strings.TrimSpace(specifiedGroups)) {
		group, names := strings.Fields(line)[0], strings.Fields(line)[1:]
		if len(operations[group]) == 0 {
			t.Errorf("the group %s has no operation", group)
		}
		for _, name := range names {
			ends := func(path string) bool { return strings.HasSuffix(path, "/"+name) }
			if !slices.ContainsFunc(operations[group], ends) {
				t.Errorf("%s is not in the group %s, which has %v", name, group, operations[group])
			}
		}
	}
}

func TestTheDescriptionHasTheRoutesOfTheSpecification(t *testing.T) {
	t.Parallel()
	doc := newDescription(t)
	for _, r := range specifiedRoutes {
		get, ok := doc.find("paths", r.path, "get").(map[string]any)
		if !ok {
			t.Errorf("GET %s is not described", r.path)
			continue
		}
		if _, open := get["security"]; open != (r.path == "/health") {
			t.Errorf("%s: whether it needs a key is not described", r.path)
		}
		wantParameters(t, doc, r.path, get, strings.Fields(r.params))
		responses := get["responses"].(map[string]any)
		success := responses["200"].(map[string]any)["content"].(map[string]any)["application/json"].(map[string]any)
		body := success["schema"].(map[string]any)
		if r.path != "/health" { // it has no envelope
			envelope := doc.resolve(body)
			if diff := cmp.Diff([]any{"data", "meta"}, envelope["required"]); diff != "" {
				t.Errorf("%s: required of the envelope (-specification +description):\n%s", r.path, diff)
			}
			body = envelope["properties"].(map[string]any)["data"].(map[string]any)
		}
		if got := doc.written(body); got != r.data {
			t.Errorf("%s answers %s, want %s", r.path, got, r.data)
		}
		if r.errors == "" {
			continue
		}
		var statuses []string
		for status := range responses {
			if status >= "400" && (status != "500" || r.path == "/v1/me") { // internal_error is not shown
				statuses = append(statuses, status)
			}
		}
		slices.Sort(statuses)
		if got := strings.Join(statuses, " "); got != r.errors {
			t.Errorf("%s fails with %s, want %s", r.path, got, r.errors)
		}
	}
	for _, path := range []string{"/docs", "/openapi.json"} {
		if security, ok := doc.find("paths", path, "get", "security").([]any); !ok || len(security) > 0 {
			t.Errorf("%s needs a key", path)
		}
	}
	if got := doc.find("info", "version"); got != "1.0.0" {
		t.Errorf("the version is %v", got)
	}
}

// wantParameters compares the query parameters of a route. Those that only we have must be optional.
func wantParameters(t *testing.T, doc *description, path string, get map[string]any, want []string) {
	t.Helper()
	got, inPath := map[string]map[string]any{}, []string{}
	list, _ := get["parameters"].([]any)
	for _, p := range list {
		p := doc.resolve(p.(map[string]any))
		switch p["in"] {
		case "query":
			got[p["name"].(string)] = p
		case "path":
			inPath = append(inPath, "{"+p["name"].(string)+"}")
		}
	}
	for _, name := range inPath {
		if !strings.Contains(path, name) {
			t.Errorf("%s: the parameter %s is not in the path", path, name)
		}
	}
	for _, name := range want {
		bare, required := strings.CutSuffix(name, "!")
		p := got[bare]
		delete(got, bare)
		if p == nil {
			t.Errorf("%s: the parameter %s is not described", path, bare)
			continue
		}
		s := doc.resolve(p["schema"].(map[string]any))
		typ := doc.written(s)
		switch bare {
		case "include_raw", "fresh":
			if sorted(typ) != "false|true" || s["default"] != "false" {
				t.Errorf("%s: %s is %s, and %v when absent", path, bare, typ, s["default"])
			}
		case "enrich":
			if typ != "arabic" {
				t.Errorf("%s: %s is %s", path, bare, typ)
			}
		default:
			if !strings.HasPrefix(typ, "string >=1") {
				t.Errorf("%s: %s is %s, want a string of at least one character", path, bare, typ)
			}
		}
		if p["required"] != required {
			t.Errorf("%s: whether %s is required is described as %v", path, bare, p["required"])
		}
	}
	if path == "/v1/{platform}/followers" || path == "/v1/raw/{provider}/{path}" {
		return // the specification does not show its parameters
	}
	for name, p := range got {
		if p["required"] == true {
			t.Errorf("%s: %s is required, which the specification does not have", path, name)
		}
	}
}

// checkValue reports where a JSON value does not agree with the specification.
func checkValue(at string, v any, typ string) error {
	base, limits, _ := strings.Cut(typ, " ")
	null := strings.HasSuffix(base, "?")
	base = strings.TrimSuffix(base, "?")
	if v == nil && (null || base == "any") {
		return nil
	}
	if base == "array" || base == "object" {
		return checkInside(at, v, strings.TrimPrefix(limits, "of "))
	}
	if _, ok := specifiedResources[base]; ok {
		return checkObject(at, v, base)
	}
	switch base {
	case "any":
		return nil
	case "boolean":
		if _, ok := v.(bool); !ok {
			return fmt.Errorf("%s is %v", at, v)
		}
		return nil
	case "integer", "number":
		n, ok := v.(float64)
		if !ok || base == "integer" && n != math.Trunc(n) {
			return fmt.Errorf("%s is %v", at, v)
		}
		return checkBounds(at, n, limits)
	}
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("%s is %v", at, v)
	}
	return checkText(at, text, base, limits)
}

func checkText(at, text, base, limits string) error {
	var good bool
	switch base {
	case "string":
		return checkBounds(at, float64(len([]rune(text))), limits)
	case "uri":
		u, err := url.Parse(text)
		good = err == nil && u.IsAbs()
	case "date-time":
		_, err := time.Parse(time.RFC3339, text)
		good = err == nil
	case "platform":
		good = strings.Contains(specifiedPlatforms+"\n", "\n"+text+"\n") ||
			strings.Contains(specifiedPlatforms, "\n"+text+" ")
	case "source":
		good = text == "official" || text == "own" || strings.HasPrefix(text, "upstream:")
	default:
		good = slices.Contains(strings.Split(base, "|"), text)
	}
	if !good {
		return fmt.Errorf("%s is %q, want %s", at, text, base)
	}
	return nil
}

func checkInside(at string, v any, typ string) error {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if err := checkValue(fmt.Sprintf("%s[%d]", at, i), item, typ); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, item := range v {
			if err := checkValue(at+" "+name, name, "platform"); err != nil {
				return err
			}
			if err := checkValue(at+"."+name, item, typ); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%s is %v", at, v)
	}
	return nil
}

func checkObject(at string, v any, resource string) error {
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is %v, want a %s", at, v, resource)
	}
	for _, f := range fieldsOf(resource) {
		value, there := object[f.name]
		if !there && f.required {
			return fmt.Errorf("%s has no %s", at, f.name)
		}
		if !there {
			continue
		}
		if err := checkValue(at+"."+f.name, value, f.typ); err != nil {
			return err
		}
	}
	return nil
}

func checkBounds(at string, n float64, limits string) error {
	for limit := range strings.FieldsSeq(limits) {
		sign := strings.TrimRight(limit, "-0123456789.")
		bound, err := strconv.ParseFloat(limit[len(sign):], 64)
		if err != nil {
			return err
		}
		if sign == ">=" && n < bound || sign == ">" && n <= bound || sign == "<=" && n > bound {
			return fmt.Errorf("%s: %v is not %s", at, n, limit)
		}
	}
	return nil
}

// TestAnswersAreWhatTheSpecificationSays reads every resource from the sandbox.
func TestAnswersAreWhatTheSpecificationSays(t *testing.T) {
	t.Parallel()
	s, seen := open(t, enginetest.Config{Credits: 1 << 20}), map[string]int{}
	for _, o := range socialdata.Operations() {
		typ := ""
		switch name := resourceOf(o.Data); {
		case o.Name == "search" || o.Name == "search_across":
			typ = "results"
		case o.Name == "job" || o.Name == "raw" || specifiedResources[name] == "":
			continue
		case o.List():
			typ = "array of " + name
		default:
			typ = name
		}
		var more []string
		for _, option := range []string{"enrich", "arabic", "include_raw", "true"} {
			if has(o, option) {
				more = append(more, option, map[string]string{"enrich": "arabic", "include_raw": "true"}[option])
			}
		}
		for _, word := range []string{"salma", "ann", "coffee"} {
			r := s.get(t, pathTo(o, word, more...))
			if r.status != http.StatusOK {
				t.Errorf("%s: status %d, want 200: %s", o.Name, r.status, r.body)
				continue
			}
			var answer map[string]any
			if err := json.Unmarshal(r.body, &answer); err != nil {
				t.Fatal(err)
			}
			if o.Bare {
				if err := checkValue(o.Name, answer, typ); err != nil {
					t.Error(err)
				}
				seen[typ]++
				continue
			}
			if err := checkValue(o.Name+" meta", answer["meta"], "Meta"); err != nil {
				t.Error(err)
			}
			if meta := answer["meta"].(map[string]any); meta["cache"] != r.header.Get("X-Cache") ||
				fmt.Sprint(meta["data_age_s"]) != r.header.Get("X-Data-Age") {
				t.Errorf("%s: the headers do not repeat meta: %v", o.Name, r.header)
			}
			if typ == "results" {
				wantResults(t, answer["data"], seen)
				continue
			}
			if err := checkValue(o.Name, answer["data"], typ); err != nil {
				t.Error(err)
			}
			seen[strings.TrimPrefix(typ, "array of ")]++
		}
	}
	for _, resource := range []string{
		"Health", "Me", "Profile", "Post", "Comment", "Audience", "LiveStream", "LinkedProfile", "Transcript", "Suggestion",
		"Collection", "Track", "Product", "StoreSummary", "Review", "Ad", "Advertiser", "Event", "Enrichment", "WebResult",
	} {
		if seen[resource] == 0 {
			t.Errorf("no %s was answered", resource)
		}
	}
}

func wantResults(t *testing.T, data any, seen map[string]int) {
	t.Helper()
	for _, result := range data.([]any) {
		object := result.(map[string]any)
		resource := specifiedKinds[asText(object["kind"])]
		if resource == "" {
			t.Errorf("a result of the kind %v", object["kind"])
			continue
		}
		if own := object["collection_kind"]; own != nil { // an object cannot have two fields with one name
			object["kind"] = own
		}
		if err := checkObject("a "+resource, object, resource); err != nil {
			t.Error(err)
		}
		seen[resource]++
	}
}

// TestProblemsAreWhatTheSpecificationSays causes each code.
func TestProblemsAreWhatTheSpecificationSays(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	poor := open(t, enginetest.Config{Credits: -1})
	tired := open(t, enginetest.Config{Rate: keys.Rate{Capacity: 1, Refill: 0.001}})
	tired.get(t, "/v1/me").envelope(t)
	broken := open(t, enginetest.Config{Options: []socialdata.Option{socialdata.WithLedger(noLedger{})}})
	provoked := map[string]reply{
		"invalid_request":      s.get(t, "/v1/mock/profile"),
		"unauthorized":         s.getAs(t, "", "/v1/mock/profile?handle=salma"),
		"insufficient_credits": poor.get(t, "/v1/mock/profile?handle=salma"),
		"not_found":            s.get(t, "/v1/mock/profile?handle=not_found"),
		"rate_limited":         tired.get(t, "/v1/me"),
		"platform_unavailable": s.get(t, "/v1/hackernews/search?query=a"),
		"upstream_timeout":     s.get(t, "/v1/mock/profile?handle=timeout"),
		"internal_error":       broken.get(t, "/v1/mock/profile?handle=salma"),
	}
	for code := range strings.SplitSeq(specifiedCodes, "|") {
		r := provoked[code]
		var p map[string]any
		if err := json.Unmarshal(r.body, &p); err != nil {
			t.Fatalf("%s: %v", code, err)
		}
		if err := checkObject(code, p, "Problem"); err != nil {
			t.Error(err)
		}
		if want, shown := specifiedStatuses[code]; shown && r.status != want {
			t.Errorf("%s is %d, want %d", code, r.status, want)
		}
		if p["code"] != code || p["status"] != float64(r.status) ||
			r.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s returned %d %s: %s", code, r.status, r.header.Get("Content-Type"), r.body)
		}
	}
	if r := provoked["rate_limited"]; r.header.Get("Retry-After") == "" ||
		!strings.Contains(string(r.body), `"retry_after"`) {
		t.Errorf("a rate limit has no Retry-After: %v %s", r.header, r.body)
	}
	if r := provoked["platform_unavailable"]; !strings.Contains(string(r.body), "/v1/hackernews/search") {
		t.Errorf("the missing route is not named: %s", r.body)
	}
	if got := len(s.Charges(t)); got != 0 {
		t.Errorf("%d failed calls were charged", got)
	}
}

// TestLifetimesAndPricesAreThoseOfTheSpecification compares what is described and what happens.
func TestLifetimesAndPricesAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	s := open(t, enginetest.Config{})
	for name, want := range specifiedLifetimes {
		path := pathTo(socialdata.Operation(name), "salma")
		if got := s.get(t, path).header.Get("Cache-Control"); got != fmt.Sprintf("private, max-age=%d",
			int64(want.Seconds())) {
			t.Errorf("%s may be kept: %s, want %s", name, got, want)
		}
	}
	for name, want := range specifiedLifetimes {
		path := pathTo(socialdata.Operation(name), "noura")
		price := func(more string) int64 { return s.get(t, path+more).envelope(t).Meta.CreditsUsed }
		base := price("")
		if hit := price(""); hit != base {
			t.Errorf("%s: a hit costs %d, want %d", name, hit, base)
		}
		if fresh := price("&fresh=true"); fresh != 2*base {
			t.Errorf("%s: fresh costs %d, want %d", name, fresh, 2*base)
		}
		if enriched := price("&enrich=arabic"); enriched != base+3 {
			t.Errorf("%s: enriched it costs %d, want %d", name, enriched, base+3)
		}
		s.Clock.Advance(want - time.Second)
		if got := s.get(t, path).header.Get("X-Cache"); got != "HIT" {
			t.Errorf("%s, a second before its end: %s", name, got)
		}
		s.Clock.Advance(time.Second)
		if got := s.get(t, path).header.Get("X-Cache"); got != "MISS" {
			t.Errorf("%s, at its end: %s", name, got)
		}
	}
}
