package docs

import (
	"embed"
	"reflect"
	"strings"

	"github.com/socialdata/socialdata/schema"
)

// languages are the languages of the snippets. It is read-only.
var languages = []struct{ file, name string }{
	{"curl", "curl"}, {"go", "Go"}, {"js", "JavaScript"}, {"py", "Python"},
}

//go:embed snippets
var snippets embed.FS

// call is the call that a snippet makes.
type call struct {
	Target string
	Data   string // the Go type of the data, or of the whole answer if Bare
	Bare   bool
}

// fill returns a snippet for c.
func fill(name string, c call) string {
	source, _ := snippets.ReadFile("snippets/" + name + ".txt") // embedded: it cannot fail for a name of ours
	answer, data := "schema.Envelope["+c.Data+"]", "answer.Data"
	if c.Bare {
		answer, data = c.Data, "answer"
	}
	return strings.TrimSpace(strings.NewReplacer(
		"{TARGET}", c.Target, "{ANSWER}", answer, "{DATA}", data).Replace(string(source)))
}

// goType returns t as a program outside of package schema writes it.
func goType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]" + goType(t.Elem())
	case reflect.Interface:
		return "any"
	default:
		name, of, generic := strings.Cut(t.Name(), "[")
		if !generic {
			return "schema." + schema.TypeName(t)
		}
		of = strings.TrimSuffix(of, "]")
		return "schema." + name + "[schema." + of[strings.LastIndexByte(of, '.')+1:] + "]"
	}
}
