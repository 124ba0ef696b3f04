package providers

import (
	"slices"

	"github.com/socialdata/socialdata/providers/kit/countries"
	"github.com/socialdata/socialdata/providers/kit/languages"
	"github.com/socialdata/socialdata/schema"
)

// localize replaces what the upstream wrote as the language or country of o by its code, or by nil if it names none.
func localize(o schema.Object) {
	switch o := o.(type) {
	case *schema.Profile:
		language(&o.Lang)
		country(&o.Country)
	case *schema.Post:
		language(&o.Lang)
	case *schema.Comment:
		language(&o.Lang)
	case *schema.Transcript:
		language(&o.Lang)
	case *schema.Review:
		language(&o.Lang)
	case *schema.Audience:
		for i := range o.Countries {
			country(&o.Countries[i].Country)
		}
	case *schema.Ad:
		var codes []string
		for _, word := range o.Countries {
			if code := countries.Code(word); code != nil && !slices.Contains(codes, *code) {
				codes = append(codes, *code)
			}
		}
		o.Countries = codes
	case *schema.Advertiser:
		country(&o.Country)
	case *schema.SearchResult:
		localize(o.Object)
	case schema.SearchResult:
		localize(o.Object)
	}
}

func language(tag **string) {
	if *tag != nil {
		*tag = languages.Tag(**tag)
	}
}

func country(code **string) {
	if *code != nil {
		*code = countries.Code(**code)
	}
}
