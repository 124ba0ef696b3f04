package providers

import (
	"reflect"
	"strconv"
	"strings"
)

// PageSizes is the maximum number of items in a page of each list, as the provider requests or cuts it, or as the
// upstream is known to return it. A list is missing if its pages vary.
type PageSizes map[Op]int

// PagesOf returns the PageSizes of lists that all have the same, a number as it is sent to the upstream.
func PagesOf(size string, lists ...Op) PageSizes { return PageSizes{}.And(size, lists...) }

// And adds lists of another size to s, and returns s. It panics if size is not a number.
func (s PageSizes) And(size string, lists ...Op) PageSizes {
	n, err := strconv.Atoi(size)
	if err != nil {
		panic("providers: page size: " + err.Error())
	}
	for _, op := range lists {
		s[op] = n
	}
	return s
}

// Lists returns every operation that returns pages, in the order of the [Provider] struct.
func Lists() (lists []Op) {
	for _, op := range order {
		if answer := (&Provider{}).field(op).Type().Out(0); answer.Kind() == reflect.Struct &&
			strings.HasPrefix(answer.Name(), "Page[") {
			lists = append(lists, op)
		}
	}
	return lists
}
