package rumble

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/dom"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/text"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/providers/kit/wire"
	"github.com/socialdata/socialdata/schema"
)

// posts lists the videos of an account. The cursor is the account's kind and the number of a page, as in c/2, because a
// channel and a user may share a name.
func (s *site) posts(ctx context.Context, handle, cursor string) (out providers.Page[schema.Post], err error) {
	kind, number, this, err := placeOf(cursor)
	if err != nil {
		return out, err
	}
	if kind != "" {
		handle = kind + "/" + handle[strings.IndexByte(handle, '/')+1:]
	}
	p, h, err := s.channel(ctx, handle, number)
	if errors.Is(err, providers.ErrNotFound) && number != "" {
		return out, nil // past the end
	}
	if err != nil {
		return out, err
	}
	return p.list(ctx, h, cursor, this)
}

// placeOf parses a cursor: the number of a page, as sent and as an int. The first page is 1, and is requested without a
// number.
func placeOf(cursor string) (kind, number string, this int, err error) {
	if cursor == "" {
		return "", "", 1, nil
	}
	kind, number, _ = strings.Cut(cursor, "/")
	if this, err = strconv.Atoi(number); err != nil || this < 2 || kind != "c" && kind != "user" {
		return "", "", 0, providers.ErrCursor
	}
	return kind, number, this, nil
}

// list reads the videos on the page of an account.
func (p *page) list(ctx context.Context, h header, cursor string, this int) (out providers.Page[schema.Post], err error) {
	rows, err := p.listing(ctx, cursor)
	if err != nil {
		return out, err
	}
	next, err := p.next(ctx, this)
	if err != nil {
		return out, err
	}
	lost := 0
	for _, r := range inOrder(rows, next == "") {
		post := r.post(ctx, h.actor())
		if post.ID == "" {
			lost++
		}
		out.Items = append(out.Items, post) // the engine leaves out posts without an id, and counts them
	}
	if next != "" {
		out.Next = h.Account.Kind + "/" + next
	}
	return out, wire.Understood("videostream", len(out.Items)-lost, lost)
}

// inOrder leaves out the featured video at the top of the page: it is in the list as well, on this page or on another.
// If there is only one page, and the video is not elsewhere on it, it is moved to its place by time.
func inOrder(rows []row, only bool) []row {
	at := slices.IndexFunc(rows, func(r row) bool { return r.Featured })
	if at < 0 {
		return rows
	}
	featured, rest := rows[at], slices.Delete(slices.Clone(rows), at, at+1)
	again := slices.ContainsFunc(rest, func(r row) bool { return r.ID == featured.ID })
	if again || !only && len(rest) > 0 {
		return rest
	}
	older := slices.IndexFunc(rest, func(r row) bool { return instant(r.Time).Before(instant(featured.Time)) })
	if older < 0 {
		older = len(rest)
	}
	return slices.Insert(rest, older, featured)
}

// instant returns the zero time if s is not a time.
func instant(s string) time.Time {
	t, _ := time.Parse(time.RFC3339, s)
	return t
}

// video is the page of a video, and the data of its player.
type video struct {
	*page
	ID       string // of the page
	Embedded string // the id of its player
	About    wire.Object[linked]
	Player   wire.Object[player]
}

// linked is the JSON-LD of a page about its video.
// https://schema.org/VideoObject
type linked struct {
	Type        string    `json:"@type"`
	Name        string    `json:"name"`
	Description string    `json:"description"` // cut after some 200 characters
	Picture     string    `json:"thumbnailUrl"`
	Uploaded    wire.Time `json:"uploadDate"`
	Duration    string    `json:"duration"` // such as PT03H35M48S; all zeros while live
	Player      string    `json:"embedUrl"`
	URL         string    `json:"url"`
	Watched     struct {
		Count wire.Count `json:"userInteractionCount"`
	} `json:"interactionStatistic"`
}

func (s *site) post(ctx context.Context, id string) (schema.Post, error) {
	v, err := s.video(ctx, id)
	if err != nil {
		return schema.Post{}, err
	}
	return v.post(ctx)
}

// video reads the page of a video and its player.
func (s *site) video(ctx context.Context, id string) (v video, err error) {
	v, err = s.videoPage(ctx, id)
	if err != nil || v.Player.Here() {
		return v, err
	}
	if v.Player, err = s.player(ctx, v.Embedded); err != nil {
		return v, behind(err)
	}
	if other := pageID(v.Player.V.Page); other != "" {
		err = wire.Same(ctx, "video", v.ID, other)
	}
	return v, err
}

// videoPage reads the page of a video, which has the id of its player. If the player was requested, it is read first,
// because it has the address of the page.
func (s *site) videoPage(ctx context.Context, id string) (v video, err error) {
	embedded, byPlayer := strings.CutPrefix(id, ofPlayer)
	if byPlayer {
		if v.Player, err = s.player(ctx, embedded); err != nil {
			return v, err
		}
		id = pageID(v.Player.V.Page)
		if err := wire.Need(ctx, "l", id != ""); err != nil {
			return v, err
		}
	}
	if v.page, err = s.page(ctx, upstream.Get(id)); err != nil {
		return v, err
	}
	if err := v.readAbout(ctx, id); err != nil {
		return v, err
	}
	v.Embedded = cmp.Or(playerID(v.About.V.Player), v.advertised())
	if byPlayer {
		v.Embedded = embedded
	}
	return v, wire.Need(ctx, "embedUrl", v.Embedded != "")
}

// readAbout reads the JSON-LD of the page, which must be about the requested video unless Rumble has redirected.
func (v *video) readAbout(ctx context.Context, asked string) error {
	for _, block := range island.Read(v.body).LinkedData() {
		if block = bytes.TrimSpace(block); bytes.HasPrefix(block, []byte("{")) {
			block = slices.Concat([]byte("["), block, []byte("]"))
		}
		var things wire.Rows[linked]
		if err := wire.Decode(ctx, block, &things); err != nil {
			continue
		}
		for _, thing := range things.All() {
			if thing.V.Type == "VideoObject" && !v.About.Here() {
				v.About = thing
			}
		}
	}
	if !v.About.Here() && says(v.doc, withdrawn...) {
		return errGone
	}
	if err := wire.Need(ctx, "VideoObject", v.About.Here()); err != nil {
		return err
	}
	v.ID = cmp.Or(pageID(v.About.V.URL), pageID(v.canonical()))
	if err := wire.Need(ctx, "VideoObject.url", v.ID != ""); err != nil {
		return err
	}
	if led := pageID(v.url.Path); v.moved && led != "" {
		asked = led
	}
	return wire.Same(ctx, "video", asked, v.ID)
}

// withdrawn are the texts on the page of a video that is deleted or not public.
var withdrawn = []string{
	"video is no longer available", "video is private", "this is a private video", "video has been removed",
}

// advertised returns the id of the player in the page's oEmbed address, or "".
// https://oembed.com/#section4
func (v *video) advertised() string {
	link := dom.First(v.doc, dom.Tag("link"), dom.Is("type", "application/json+oembed"))
	u, err := url.Parse(dom.Attr(link, "href"))
	if err != nil {
		return ""
	}
	return playerID(u.Query().Get("url"))
}

// marked is the data that is only in the markup of a video's page, in the page's own texts.
type marked struct {
	Author      account `json:"author"`
	AuthorName  string  `json:"author_name"`
	AuthorImage string  `json:"author_image"`
	Description string  `json:"description"`
	Likes       string  `json:"likes"`
	Comments    string  `json:"comments"`
}

func (v *video) marked() marked {
	by := dom.First(v.doc, dom.Tag("a"), dom.Class("media-by--a"))
	m := marked{
		Author:      accountAt(dom.Attr(by, "href")),
		AuthorName:  line(dom.First(by, dom.Class("media-heading-name"))),
		AuthorImage: v.pictures.of(by),
		Likes:       line(dom.First(v.doc, dom.Is("data-js", "rumbles_up_votes"))),
	}
	m.Comments, _ = strings.CutPrefix(line(dom.First(v.doc, dom.Is("id", "video-comments-loading"))), "Loading ")
	m.Comments = strings.TrimRight(m.Comments, ".…")
	var paragraphs []string
	for p := range dom.All(v.doc, dom.Tag("p"), dom.Class("media-description")) {
		paragraphs = append(paragraphs, dom.Words(p))
	}
	m.Description = strings.TrimSpace(strings.Join(paragraphs, "\n\n"))
	return m
}

func (v *video) post(ctx context.Context) (schema.Post, error) {
	m, about, player := v.marked(), v.About.V, v.Player.V
	title := cmp.Or(strings.TrimSpace(about.Name), player.title(), line(dom.First(v.doc, dom.Tag("h1"))))
	if err := wire.Need(ctx, "VideoObject.name", title != ""); err != nil {
		return schema.Post{}, err
	}
	author := m.Author.actor(cmp.Or(m.AuthorName, player.Author.Name), m.AuthorImage)
	if m.Author.Slug == "" {
		author = accountAt(player.Author.URL).actor(player.Author.Name, "")
	}
	if err := wire.Need(ctx, "media-by--a", author.ID != ""); err != nil {
		return schema.Post{}, err
	}
	said := title
	if body := cmp.Or(m.Description, strings.TrimSpace(about.Description)); body != title {
		said = text.Join(title, body)
	}
	return schema.Post{
		Common:    schema.Common{ID: v.ID, URL: v.address(), Raw: v.raw(m)},
		Author:    author,
		Text:      said,
		CreatedAt: cmp.Or(about.Uploaded.V, player.Published.V),
		Media:     []schema.Media{v.media()},
		Engagement: schema.Engagement{
			Likes:    count(ctx, "rumbles_up_votes", m.Likes),
			Comments: count(ctx, "video-comments-loading", m.Comments),
			Views:    about.Watched.Count.V,
		},
		Hashtags: text.Hashtags(said),
		Mentions: text.Mentions(said),
	}, nil
}

// address returns the address of the video's page.
func (v *video) address() string {
	for _, address := range []string{v.About.V.URL, v.canonical(), v.Player.V.Page} {
		if pageID(address) == v.ID {
			return pageURL(address)
		}
	}
	return home + v.ID
}

func (v *video) media() schema.Media {
	m := schema.Media{
		Type: schema.Video, URL: text.URLOr(v.Player.V.Files.V.MP4.URL, v.address()),
		ThumbnailURL: absolute(cmp.Or(v.About.V.Picture, v.Player.V.Picture)),
		DurationS:    v.Player.V.Duration.V,
	}
	if m.DurationS == nil {
		m.DurationS = spelled(v.About.V.Duration)
	}
	if m.DurationS != nil && *m.DurationS <= 0 { // while live
		m.DurationS = nil
	}
	return m
}

// spelled parses PT03H35M48S; nil if s is not such a duration.
func spelled(s string) *float64 {
	rest, ok := strings.CutPrefix(s, "PT")
	d, err := time.ParseDuration(strings.ToLower(rest))
	if !ok || err != nil {
		return nil
	}
	return new(d.Seconds())
}

func (v *video) raw(m marked) json.RawMessage {
	return raw(struct {
		About  json.RawMessage `json:"video_object"`
		Marked marked          `json:"page"`
		Player json.RawMessage `json:"player"`
	}{v.About.Raw, m, v.Player.Raw})
}
