package arabic_test

import (
	"context"
	"fmt"

	"github.com/socialdata/socialdata/enrich/arabic"
)

func Example() {
	model := arabic.New()
	e, err := model.Enrich(context.Background(), "والله الحفلة كانت تحفة أوي 😍 شكرا يا جماعة #القاهرة")
	if err != nil {
		panic(err) // only when the context is done
	}
	fmt.Println(e.Dialect, e.Sentiment.Label, e.Entities[0].Text, e.Entities[0].Type)
	// Output:
	// egyptian positive #القاهرة hashtag
}
