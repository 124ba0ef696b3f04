package server

import (
	"bytes"
	_ "embed"
	"html/template"
	"strings"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/problem"
)

//go:embed docs.html
var docsHTML string

const llms = `# socialdata

> Public social and commerce data from many platforms through one JSON API.

- [API description](openapi.json): OpenAPI 3.1
- [Documentation](docs): routes, parameters, errors, credits
- [Platforms](v1/platforms): what can be read from each platform
`

// catalog is the list of this service's descriptions.
// https://www.rfc-editor.org/rfc/rfc9727
const catalog = `{"linkset":[{"anchor":"../","service-desc":[{"href":"../openapi.json","type":"application/json"}],` +
	`"service-doc":[{"href":"../docs","type":"text/html"}],"status":[{"href":"../health","type":"application/json"}]}]}`

// page renders the documentation.
func page(sections []Section) ([]byte, error) {
	t, err := template.New("docs").Parse(docsHTML)
	if err != nil {
		return nil, err
	}
	type group struct {
		Name, Doc  string
		Operations []*operation.Operation
	}
	var groups []*group
	byName := map[string]*group{}
	for _, o := range socialdata.Operations() {
		g := byName[o.Tag]
		if g == nil {
			g = &group{Name: o.Tag, Doc: tagDocs[o.Tag]}
			byName[o.Tag] = g
			groups = append(groups, g)
		}
		g.Operations = append(g.Operations, o)
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		Groups    []*group
		Platforms []platform.Info
		Codes     []problem.Code
		Sections  []Section
	}{groups, platform.All(), problem.Codes(), sections})
	return []byte(strings.TrimSpace(b.String()) + "\n"), err
}
