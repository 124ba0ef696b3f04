package docs

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
	"github.com/socialdata/socialdata/schema"
)

// Config is the content of the pages.
type Config struct {
	Operations   []Operation         // in the order of the page
	Changes      []*operation.Change // that are served below /manage, with the codes with which they can fail
	ChangeErrors []problem.Code
	Groups       map[string]string              // the description of each operation group, by name
	Platforms    []schema.PlatformInfo          // the operations that can be read now, and the reasons for the others
	Headers      []Header                       // of responses
	PageSizes    map[platform.ID]map[string]int // the items of a page by operation, where they are known
	Problems     []Problem
	Sections     []Section // shown after the page's own sections
	Tools        bool      // whether the Model Context Protocol is served at mcp
	Dashboard    bool      // whether the pages of the dashboard are served at dashboard
	SandboxKey   string    // with which calls are tried, and which everyone may know; "" lets the reader type one

	Changelog string // what is new in each release, as Markdown

	SchemaFiles []string // the JSON Schemas under schemas/, such as "post.json"
}

// Operation is a row of the operation table with its description.
type Operation struct {
	*operation.Operation
	ID      string          // its name as a function, such as listPosts; its anchor
	Cost    string          // the price of a call, in a sentence
	Example json.RawMessage // an answer; nil when there is none
	Schema  string          // the file of its data's JSON Schema under schemas/, such as "post.json", or ""
}

// Header is a header field of responses.
type Header struct{ Name, Doc string }

// Problem is a problem code with an example.
type Problem struct {
	Code    problem.Code
	Example json.RawMessage
}

// Section is an additional table of the operator's: of the reference, or of a page of its own below /docs.
type Section struct {
	Title string
	Page  string // the name of the page, such as "settings"; "" for the reference
	Intro string
	Head  []string
	Rows  [][]string
}

// Base is a placeholder for the address of the server while pages are rendered, also in a [Config]. Its characters are
// not escaped in any context of HTML, and those of an address that replaces it must not be either.
const Base = "http://base.invalid/0f6c2b"

// Page is the parts of a page between which the address of the server is inserted.
type Page [][]byte

// At returns the page as it reads under an address, such as "https://example.org/data". The address may have letters,
// digits and the characters -._~:/[] only.
func (p Page) At(address string) []byte { return bytes.Join(p, []byte(address)) }

// pages are the pages by path, each with its name, its template and the relative path to the root of the server. It is
// read-only.
var pages = map[string]struct {
	name   string
	render func(site) string
	root   string
}{
	"/docs":           {"reference", referencePage, ""},
	"/docs/platforms": {"platforms", platformsPage, "../"},
	"/docs/fields":    {"fields", fieldsPage, "../"},
	"/docs/changelog": {"changelog", changelogPage, "../"},
}

// Paths returns the paths of the pages. Each of the platforms has one, and each name of a page of sections.
func Paths(platforms, named []string) []string {
	out := slices.Sorted(maps.Keys(pages))
	for _, name := range named {
		out = append(out, "/docs/"+name)
	}
	for _, id := range platforms {
		out = append(out, platformPath(id))
	}
	return out
}

// platformPath returns the path of the page of a platform.
func platformPath(id string) string { return "/docs/platforms/" + id }

// Assets returns the files that the pages load, below /docs/, with their media types.
func Assets() map[string]string {
	return map[string]string{
		"docs.css": "text/css; charset=utf-8", "docs.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	}
}

// Asset returns a file of [Assets].
func Asset(name string) ([]byte, error) { return assets.ReadFile("assets/" + name) }

//go:embed assets
var assets embed.FS

//go:generate go tool qtc -skipLineComments

// New renders the pages and the search index.
func New(cfg Config) (*Site, error) {
	guarantees, err := readGuarantees()
	if err != nil {
		return nil, err
	}
	samples, err := readSamples()
	if err != nil {
		return nil, err
	}
	s := site{Config: cfg, Version: version(), Guarantees: guarantees}
	s.groups = s.grouped()
	out := &Site{Pages: map[string]Page{}}
	add := func(path, page string) {
		out.Pages[path] = bytes.Split(squeeze([]byte(page)), []byte(Base))
	}
	for path, p := range pages {
		s.Root, s.Page = p.root, p.name
		add(path, p.render(s))
	}
	for _, section := range cfg.Sections {
		if section.Page != "" && out.Pages["/docs/"+section.Page] == nil {
			s.Root, s.Page = "../", section.Page
			add("/docs/"+section.Page, sectionsPage(s))
		}
	}
	for _, p := range cfg.Platforms {
		on := &On{PlatformInfo: p}
		if s, ok := samples[p.Platform]; ok {
			on.Sample = &s
		}
		s.Root, s.Page, s.On = "../../", "platform", on
		add(platformPath(string(p.Platform)), platformPage(s))
	}
	if out.Index, err = schema.Marshal(s.index(out.Pages["/docs"].At(""))); err != nil {
		return nil, err
	}
	out.Short = s.short()
	text, err := textOf(out.Pages["/docs"].At(Base))
	out.Text = bytes.Split(text, []byte(Base))
	return out, err
}

// Site is the documentation of a server.
type Site struct {
	Pages map[string]Page // by their path
	Index []byte          // the search index, as JSON
	Short []byte          // the operations, for language models, as the content of llms.txt
	Text  Page            // the reference as text, for language models, as the content of llms-full.txt
}

// site is the data of the templates.
type site struct {
	Config
	Root       string // the relative path from the page to the root of the server
	Page       string // its name
	On         *On    // the platform of the page; nil if there is none
	Version    string // of the style sheet and script
	Guarantees []Guarantees

	groups []*Group // the result of ByGroup
}

// Title returns the title of the page.
func (s site) Title() string {
	if s.On != nil {
		return s.On.Name
	}
	return capital(s.Page)
}

// SectionsOf returns the sections of a page; "" is the reference.
func (s site) SectionsOf(page string) []Section {
	return slices.DeleteFunc(slices.Clone(s.Sections), func(section Section) bool { return section.Page != page })
}

// At returns the address of a section, from the root of the server.
func (s Section) At() string {
	if s.Page != "" {
		return "docs/" + s.Page + "#" + slug(s.Title)
	}
	return "docs#" + slug(s.Title)
}

// Address returns the placeholder for the address of the server.
func (site) Address() string { return Base }

// version returns a text that changes with the style sheet and the script.
func version() string {
	sum := sha256.New()
	for _, name := range []string{"docs.css", "docs.js"} {
		body, _ := assets.ReadFile("assets/" + name) // embedded: it cannot fail
		sum.Write(body)
	}
	return hex.EncodeToString(sum.Sum(nil)[:4])
}

// squeeze removes the blank lines and the indentation that templates leave, except inside code.
func squeeze(page []byte) []byte {
	var out bytes.Buffer
	code := false
	for line := range bytes.Lines(page) {
		if !code {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			line = append(bytes.Clone(line), '\n')
		}
		if i, j := bytes.LastIndex(line, []byte("<pre")), bytes.LastIndex(line, []byte("</pre")); i != j {
			code = i > j
		}
		out.Write(line)
	}
	return out.Bytes()
}

// Group is the operations of one group.
type Group struct {
	Name, Doc  string
	Operations []entry
}

// ByGroup returns the operations by group, in the order of the first operation of each.
func (s site) ByGroup() []*Group { return s.groups }

func (s site) grouped() []*Group {
	var out []*Group
	byName := map[string]*Group{}
	for _, o := range s.Operations {
		g := byName[o.Tag]
		if g == nil {
			g = &Group{Name: o.Tag, Doc: s.Groups[o.Tag]}
			byName[o.Tag] = g
			out = append(out, g)
		}
		g.Operations = append(g.Operations, s.entry(o))
	}
	if len(s.Changes) > 0 {
		g := &Group{Name: managing, Doc: "An account is managed with one of its keys that has the mark manage. Everything is " +
			"free, and counts against the rate limit of that key. What there is, is listed by the operations above."}
		for _, c := range s.Changes {
			g.Operations = append(g.Operations, s.change(c))
		}
		out = append(out, g)
	}
	return out
}
