// Package env fills the Config of a provider from settings in the environment, one variable for each field:
//
//	var cfg youtube.Config
//	err := env.Fill(os.LookupEnv, "youtube", &cfg) // APIKey is SOCIALDATA_YOUTUBE_API_KEY
//
// Only programs read the environment: a library passes its Config in.
package env

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// Prefix is the prefix of the name of every setting.
const Prefix = "SOCIALDATA_"

// Lookup returns the value of a variable and whether it is set, as [os.LookupEnv] does. A variable that is set to the
// empty text counts as not set.
type Lookup func(name string) (value string, ok bool)

// Name returns the variable of a provider's setting, which is the name of a field of its Config or the same in
// lower case with underscores. The setting of another provider is written as provider.setting.
func Name(provider, setting string) string {
	if other, rest, named := strings.Cut(setting, "."); named {
		provider, setting = other, rest
	}
	return Prefix + strings.ToUpper(provider) + "_" + strings.ToUpper(snake(setting))
}

// Fill sets the fields of the struct that cfg points to, each from its own variable: text, booleans, whole numbers and
// types that implement [encoding.TextUnmarshaler]. Fields without a variable and pointers, such as an HTTP client, keep
// what they hold. The error names every variable that cannot be read.
func Fill(lookup Lookup, provider string, cfg any) error {
	var errs []error
	for f, at := range reflect.ValueOf(cfg).Elem().Fields() {
		if at.Kind() == reflect.Pointer {
			continue // fields shared by providers are not settings
		}
		name := Name(provider, f.Name)
		value, _ := lookup(name)
		if value == "" {
			continue
		}
		if err := assign(at, value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

func assign(at reflect.Value, value string) error {
	if word, ok := reflect.TypeAssert[encoding.TextUnmarshaler](at.Addr()); ok {
		return word.UnmarshalText([]byte(value))
	}
	switch at.Kind() {
	case reflect.String:
		at.SetString(value)
	case reflect.Bool:
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("must be true or false, not %q", value)
		}
		at.SetBool(on)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("must be a whole number, not %q", value)
		}
		at.SetInt(n)
	default:
		return errors.New("cannot be set from the environment")
	}
	return nil
}

// snake returns the words of a field's name with underscores between them: ClientID is client_id, APIKey is api_key.
func snake(name string) string {
	var b strings.Builder
	rs := []rune(name)
	for i, r := range rs {
		upper := unicode.IsUpper(r)
		starts := upper && i > 0 && (!unicode.IsUpper(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1]))
		if starts {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
