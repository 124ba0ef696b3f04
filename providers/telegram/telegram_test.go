package telegram_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/providertest"
	"github.com/socialdata/socialdata/providers/telegram"
)

func open(c *http.Client) providers.Chain {
	return telegram.New(telegram.Config{BotToken: "1:secret-token", HTTP: c})
}

func TestPublicPages(t *testing.T) {
	t.Parallel()
	search := func(query string) providers.SearchQuery {
		return providers.SearchQuery{Query: query, Handle: "salma_cooks"}
	}
	providertest.Run(t, providertest.Suite{
		New: open, Upstream: "telegram_own", Witness: true,
		Calls: []providertest.Call{
			providertest.Profile("profile", "salma_cooks"),
			providertest.Profile("profile-header-only", "Salma_Cooks"),
			providertest.Profile("profile-group", "cooks_talk"),
			providertest.Profile("profile-no-preview", "quiet_channel"),
			providertest.Profile("profile-person", "omar_writes"),
			providertest.Posts("posts", "salma_cooks"),
			providertest.Post("post", "salma_cooks/1201"),
			providertest.Post("post-part-of-album", "salma_cooks/1205"),
			providertest.Post("post-signed", "salma_cooks/1212"),
			providertest.Search("search", search("كشري")),
			providertest.Search("search-nothing", search("قهوة")),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown name", "nobody_here"), Want: providers.ErrNotFound},
			{Call: providertest.Profile("page without a name", "nameless_page"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("card without a name", "nameless_card"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("page of another channel", "renamed_away"), Want: providers.ErrUnavailable},
			{Call: providertest.Profile("card of another account", "moved_name"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("posts of an unknown name", "nobody_here"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of a channel without preview", "quiet_channel"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts without preview, not redirected", "shown_at_once"), Want: providers.ErrNotFound},
			{Call: providertest.Posts("posts of a group", "cooks_talk"), Want: providers.ErrUnsupported},
			{Call: providertest.Posts("posts of a person", "omar_writes"), Want: providers.ErrUnsupported},
			{Call: providertest.Posts("no history on the page", "head_only"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("no message that can be read", "new_layout"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("a way back that leads nowhere", "no_way_back"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("posts of another channel", "renamed_away"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("hits in the place of posts", "searched"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("nothing behind a page that has more", "salma_cooks").From("3"), Want: providers.ErrUnavailable},
			{Call: providertest.Posts("an invalid cursor", "salma_cooks").From("-1"), Want: providers.ErrCursor},
			{Call: providertest.Post("post that is gone", "salma_cooks/9999"), Want: providers.ErrNotFound},
			{Call: providertest.Post("service message", "salma_cooks/1203"), Want: providers.ErrNotFound},
			{Call: providertest.Post("another post", "salma_cooks/4"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("a post without a number", "salma_cooks/5"), Want: providers.ErrUnavailable},
			{Call: providertest.Post("post of an unknown name", "nobody_here/1"), Want: providers.ErrNotFound},
			{Call: providertest.Post("a card in the place of a post", "cooks_talk/7"), Want: providers.ErrUnavailable},
			{Call: providertest.Search("search everywhere", providers.SearchQuery{Query: "x"}), Want: providers.ErrInvalid},
		},
		Drift: &providertest.Drift{},
		Inputs: []providertest.Input{
			{Subject: providers.Handle, In: "@Salma_Cooks", Want: "Salma_Cooks"},
			{Subject: providers.Handle, In: "https://t.me/s/salma_cooks?before=3", Want: "salma_cooks"},
			{Subject: providers.Handle, In: "t.me/salma_cooks/12", Want: "salma_cooks"},
			{Subject: providers.Handle, In: "telegram.me/salma_cooks", Want: "salma_cooks"},
			{Subject: providers.Handle, In: "https://salma_cooks.t.me/", Want: "salma_cooks"},
			{Subject: providers.Handle, In: "https://t.me/+AbCdEf"},
			{Subject: providers.Handle, In: "https://t.me/joinchat/AbCdEf"},
			{Subject: providers.Handle, In: "https://t.me/c/123/4"},
			{Subject: providers.Handle, In: "https://t.me/"},
			{Subject: providers.Handle, In: "https://example.com/salma_cooks"},
			{Subject: providers.Handle, In: "abc"},
			{Subject: providers.Handle, In: "1salma"},
			{Subject: providers.Handle, In: "سلمى"},
			{Subject: providers.Handle, In: ".."},
			{Subject: providers.PostID, In: "salma_cooks/1201", Want: "salma_cooks/1201"},
			{Subject: providers.PostID, In: "https://t.me/salma_cooks/1201?single", Want: "salma_cooks/1201"},
			{Subject: providers.PostID, In: "https://t.me/s/salma_cooks/1201", Want: "salma_cooks/1201"},
			{Subject: providers.PostID, In: "https://t.me/cooks_talk/3/77", Want: "cooks_talk/77"},
			{Subject: providers.PostID, In: "https://t.me/c/123/4"},
			{Subject: providers.PostID, In: "1201"},
			{Subject: providers.PostID, In: "salma_cooks/0"},
			{Subject: providers.PostID, In: "salma_cooks/x"},
			{Subject: providers.PostID, In: "a/b/c/1"},
			{Subject: providers.CommentID, In: "salma_cooks/1"},
		},
	})
	providertest.Off(t, telegram.New(telegram.Config{Own: providers.OwnOff})[1])
}

func TestBotAPI(t *testing.T) {
	t.Parallel()
	providertest.Run(t, providertest.Suite{
		New: open, Upstream: "telegram",
		Calls: []providertest.Call{
			providertest.Profile("bot-profile", "salma_cooks"),
			providertest.Profile("bot-profile-by-another-name", "salma_kitchen"),
		},
		Fails: []providertest.Fail{
			{Call: providertest.Profile("unknown name", "nobody_here"), Want: providers.ErrNotHere},
			{Call: providertest.Profile("a person", "omar_writes"), Want: providers.ErrNotHere},
			{Call: providertest.Profile("another channel", "moved_name"), Want: providers.ErrUnavailable},
		},
		Drift: &providertest.Drift{Absent: []string{"active_usernames"}},
	})
}

// answering returns the providers over pages by path.
func answering(pages map[string]string) providers.Chain {
	return open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
		if page, ok := pages[r.URL.Path]; ok {
			return http.StatusOK, page
		}
		return http.StatusNotFound, ""
	})})
}

const oneMessage = `<main class="tgme_main" data-url="/salma_cooks"><section class="tgme_channel_history">
	<div class="tgme_widget_message_wrap"><div class="tgme_widget_message" data-post="salma_cooks/7">WITHIN</div></div></section></main>`

func TestMessagesWithFewParts(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, within, text string }{
		{"nothing", "", ""},
		{"a quote alone", `<div class="tgme_widget_message_text js-message_reply_text">quoted</div>`, ""},
		{"a quote in the block of an answer", `<a class="tgme_widget_message_reply"><div class="tgme_widget_message_text js-message_text">
			quoted</div></a><div class="tgme_widget_message_text js-message_text">said</div>`, "said"},
		{"views that are not a number", `<span class="tgme_widget_message_views">lots</span>`, ""},
		{"a time without its date", `<a class="tgme_widget_message_date"><time>09:00</time></a>`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			own := answering(map[string]string{"/s/salma_cooks": strings.Replace(oneMessage, "WITHIN", tt.within, 1)})[1]
			page, err := own.Posts(t.Context(), "salma_cooks", "")
			if err != nil || len(page.Items) != 1 {
				t.Fatalf("%d posts, %v: want one", len(page.Items), err)
			}
			p := page.Items[0]
			if p.Text != tt.text || p.CreatedAt != nil || p.Engagement.Views != nil || p.Engagement.Likes != nil || len(p.Media) != 0 {
				t.Errorf("got %+v, want the text %q and nothing else", p, tt.text)
			}
		})
	}
}

func TestMalformedMessageIsLeftOut(t *testing.T) {
	t.Parallel()
	own := answering(map[string]string{"/s/salma_cooks": strings.Replace(oneMessage, "</section>", `
		<div class="tgme_widget_message_wrap"><div class="tgme_widget_message" data-post="salma_cooks">numberless</div></div>
		<div class="tgme_widget_message_wrap"><div class="tgme_widget_message" data-post="somebody_else/8">not theirs</div></div>
		<div class="tgme_widget_message_wrap">empty</div></section>`, 1)})[1]
	page, err := own.Posts(t.Context(), "salma_cooks", "")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range page.Items {
		ids = append(ids, p.ID) // the engine leaves out those without an id, and counts them
	}
	if diff := cmp.Diff([]string{"", "", "", "salma_cooks/7"}, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestAnEmptyListNeedsAWitness(t *testing.T) {
	t.Parallel()
	const (
		nothing  = `<div class="tgme_widget_message_wrap"><div class="tme_no_messages_found">No posts found</div></div>`
		message  = `<div class="tgme_widget_message_wrap"><div class="tgme_widget_message" data-post="salma_cooks/7">words</div></div>`
		service  = `<div class="tgme_widget_message_wrap"><div class="tgme_widget_message service_message" data-post="salma_cooks/1"></div></div>`
		older    = `<a class="tme_messages_more" data-before="7" href="/s/salma_cooks?before=7"></a>`
		counters = `<div class="tgme_channel_info_counter"><span class="counter_value">178</span> <span class="counter_type">videos</span></div>
			<div class="tgme_channel_info_counter"><span class="counter_value">11.1M</span> <span class="counter_type">subscribers</span></div>`
		readers = `<div class="tgme_header_counter">11.1M subscribers</div>`
		box     = `<input class="tgme_header_search_form_input" name="q" value="%s">`
	)
	searched := func(value string) string { return strings.ReplaceAll(box, "%s", value) }
	tests := []struct {
		name, query, cursor, head, rows string
		want                            error
	}{
		{"no message and no word", "", "", readers, "", providers.ErrUnavailable},
		{"its own word", "", "", readers, nothing, nil},
		{"its own word beside a count of videos", "", "", counters, nothing, providers.ErrUnavailable},
		{"service messages alone", "", "", counters, service, nil},
		{"no message and a way back", "", "", readers, older, providers.ErrUnavailable},
		{"behind a cursor", "", "7", readers, nothing, providers.ErrUnavailable},
		{"no hits", "Coffee  beans", "", counters + searched("coffee beans"), nothing, nil},
		{"no hits and no word", "coffee", "", searched("coffee"), "", providers.ErrUnavailable},
		{"a search that was ignored", "coffee", "", searched(""), message, providers.ErrUnavailable},
		{"a search for something else", "coffee", "", searched("tea"), message, providers.ErrUnavailable},
		{"a history without a search", "coffee", "", "", message, providers.ErrUnavailable},
		{"marked hits", "words", "", "", strings.Replace(message, "words", `<mark class="highlight">words</mark>`, 1), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			own := answering(map[string]string{"/s/salma_cooks": tt.head +
				`<main class="tgme_main" data-url="/salma_cooks"><section class="tgme_channel_history">` + tt.rows + `</section></main>`})[1]
			var err error
			if tt.query == "" {
				_, err = own.Posts(t.Context(), "salma_cooks", tt.cursor)
			} else {
				_, err = own.Search(t.Context(), providers.SearchQuery{Query: tt.query, Handle: "salma_cooks"}, tt.cursor)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
		})
	}
}

func TestPostsOfFilesAndHiddenPosts(t *testing.T) {
	t.Parallel()
	const hint = `<div class="message_media_not_supported"><div class="message_media_not_supported_label">Please open Telegram to view this post</div></div>`
	tests := []struct{ name, within, text string }{
		{"a document", `<a class="tgme_widget_message_document_wrap"><div class="tgme_widget_message_document">
			<div class="tgme_widget_message_document_title">recipes.pdf</div><div class="tgme_widget_message_document_extra">2 MB</div></div></a>`, "recipes.pdf"},
		{"a song with words", `<div class="tgme_widget_message_document audio"><div class="tgme_widget_message_document_title">A song</div></div>
			<div class="tgme_widget_message_text js-message_text">listen</div>`, "listen"},
		{"words beside the hint", hint + `<div class="tgme_widget_message_text js-message_text">words</div>`, "words"},
		{"the hint alone", hint, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			page := strings.Replace(oneMessage, "WITHIN", tt.within, 1)
			own := answering(map[string]string{"/s/salma_cooks": page, "/salma_cooks/7": page})[1]
			list, err := own.Posts(t.Context(), "salma_cooks", "")
			post, postErr := own.Post(t.Context(), "salma_cooks/7")
			if tt.text == "" {
				if !errors.Is(err, providers.ErrUnavailable) || !errors.Is(postErr, providers.ErrUnsupported) {
					t.Errorf("got errors %v and %v, want ErrUnavailable and ErrUnsupported", err, postErr)
				}
				return
			}
			if err != nil || postErr != nil || len(list.Items) != 1 || list.Items[0].Text != tt.text || post.Text != tt.text {
				t.Errorf("got %+v, %v and %q, %v, want the text %q", list.Items, err, post.Text, postErr, tt.text)
			}
		})
	}
}

func TestPersonIsNotAChannel(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"first_subscriber", "team_member"} {
		card := `<div class="tgme_page"><div class="tgme_page_title">Omar</div><div class="tgme_page_extra">@` + name + `</div>
			<a href="tg://resolve?domain=` + name + `">Send Message</a></div>`
		own := answering(map[string]string{"/s/" + name: card})[1]
		if _, err := own.Posts(t.Context(), name, ""); !errors.Is(err, providers.ErrUnsupported) || !strings.Contains(err.Error(), "not a channel") {
			t.Errorf("posts of @%s: %v, want ErrUnsupported that says it is not a channel", name, err)
		}
	}
}

func TestPreviewInsideACard(t *testing.T) {
	t.Parallel()
	page := `<div class="tgme_page">` + strings.Replace(oneMessage, "WITHIN", "", 1) + `</div>`
	own := answering(map[string]string{"/s/salma_cooks": page})[1]
	got, err := own.Posts(t.Context(), "salma_cooks", "")
	if err != nil || len(got.Items) != 1 || got.Items[0].ID != "salma_cooks/7" {
		t.Errorf("got %+v, %v, want the post", got.Items, err)
	}
}

func TestErrorNamesTheMissingPart(t *testing.T) {
	t.Parallel()
	own := answering(map[string]string{
		"/s/salma_cooks": `<main class="tgme_main" data-url="/salma_cooks"></main>`, "/s/nobody_here": `<p>Sign in</p>`,
		"/salma_cooks/1": `<body class="tgme_widget">?</body>`,
	})[1]
	_, posts := own.Posts(t.Context(), "salma_cooks", "")
	_, profile := own.Profile(t.Context(), "nobody_here")
	_, post := own.Post(t.Context(), "salma_cooks/1")
	for part, err := range map[string]error{"tgme_channel_history": posts, "tgme_main": profile, "tgme_widget_message": post} {
		e, ok := errors.AsType[*providers.Error](err)
		if !ok || !errors.Is(err, providers.ErrUnavailable) || !strings.Contains(e.Detail, part) {
			t.Errorf("got %v, want ErrUnavailable that names %s", err, part)
		}
	}
}

func TestTheBotTokenIsNotShown(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnauthorized, http.StatusNotFound, http.StatusFound, http.StatusInternalServerError} {
		bot := open(&http.Client{Transport: providertest.Answers(func(r *http.Request) (int, string) {
			if !strings.HasPrefix(r.URL.Path, "/bot1:secret-token/") {
				t.Errorf("asked for %s", r.URL.Path)
			}
			return status, `{"ok":false,"description":"Not Found"}`
		})})[0]
		_, err := bot.Profile(t.Context(), "salma_cooks")
		if !errors.Is(err, providers.ErrUnavailable) || strings.Contains(err.Error(), "secret") {
			t.Errorf("status %d: got %v, want ErrUnavailable without the token", status, err)
		}
	}
	if p := telegram.New(telegram.Config{})[0]; p.Serves(providers.OpProfile) || p.Missing[providers.OpProfile] == nil {
		t.Error("without a token the Bot API is not read, and says what it lacks")
	}
}

func TestALimitOfTheBotAPI(t *testing.T) {
	t.Parallel()
	bot := open(&http.Client{Transport: providertest.Answers(func(*http.Request) (int, string) {
		return http.StatusTooManyRequests, `{"ok":false,"error_code":429,"parameters":{"retry_after":7}}`
	})})[0]
	_, err := bot.Profile(t.Context(), "salma_cooks")
	if e, ok := errors.AsType[*providers.Error](err); !ok || e.RetryAfter != 7*time.Second {
		t.Errorf("got %v, want a limit of 7 s", err)
	}
}
