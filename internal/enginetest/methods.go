package enginetest

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/operation"
	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/schema"
)

// Many is a batch: a request for one object, and the keys.
type Many[Req any] struct {
	One  Req
	Keys []string
}

// Method returns the function of c that makes the calls of an operation: a method of c or of its account, a method
// of a part of the account, or for a batch a function that takes a [Many].
func Method(tb testing.TB, c socialdata.Reader, o *operation.Operation) reflect.Value {
	tb.Helper()
	if o.Of != "" {
		return reflect.ValueOf(batches(c)[o.Of])
	}
	if o.Name == "bulk_results" {
		return reflect.ValueOf(c.Account().Bulk().Results)
	}
	for _, of := range []any{c, c.Account()} {
		m := reflect.ValueOf(of).MethodByName(o.Method())
		if m.IsValid() && m.Type().NumIn() > 0 {
			return m
		}
		if m.IsValid() {
			return m.Call(nil)[0].MethodByName("List")
		}
	}
	tb.Fatalf("there is no method %s", o.Method())
	return reflect.Value{}
}

func batches(c socialdata.Reader) map[string]any {
	return map[string]any{
		"profile": batch[schema.Profile, socialdata.ProfileRequest](c), "audience": batch[schema.Audience, socialdata.AudienceRequest](c),
		"live": batch[schema.LiveStream, socialdata.LiveRequest](c), "post": batch[schema.Post, socialdata.PostRequest](c),
		"transcript": batch[schema.Transcript, socialdata.TranscriptRequest](c),
		"collection": batch[schema.Collection, socialdata.CollectionRequest](c),
		"track":      batch[schema.Track, socialdata.TrackRequest](c), "community": batch[schema.Profile, socialdata.CommunityRequest](c),
		"product": batch[schema.Product, socialdata.ProductRequest](c), "store": batch[schema.StoreSummary, socialdata.StoreRequest](c),
		"ad": batch[schema.Ad, socialdata.AdRequest](c), "event": batch[schema.Event, socialdata.EventRequest](c),
		"read": batch[any, socialdata.ReadRequest](c),
	}
}

func batch[T any, Req socialdata.Keyed[T]](
	c socialdata.Reader,
) func(context.Context, Many[Req]) (*schema.Envelope[[]schema.BatchItem[T]], error) {
	return func(ctx context.Context, m Many[Req]) (*schema.Envelope[[]schema.BatchItem[T]], error) {
		return socialdata.Batch(ctx, c, m.One, m.Keys...)
	}
}

// Fill sets the fields of a request that a call of the sandbox needs.
func Fill(v reflect.Value, o *operation.Operation) {
	set := func(name, text string) {
		if f := v.FieldByName(name); f.IsValid() {
			f.SetString(text)
		}
	}
	set("Platform", string(platform.Mock))
	set("Provider", "mock")
	set("Path", "echo/salma")
	one := false
	for _, p := range o.Params {
		if !p.Required && (!p.OneOf || one) {
			continue
		}
		one = one || p.OneOf
		for field := range v.Type().Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("param"), ","); name == p.Name {
				v.FieldByIndex(field.Index).SetString("salma")
				if p.Form == operation.FormAddress {
					v.FieldByIndex(field.Index).SetString("https://mock.example/@salma")
				}
			}
		}
	}
}
