package rumble

import (
	"errors"
	"net/http"
	"strings"

	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/island"
	"github.com/socialdata/socialdata/providers/kit/upstream"
)

// check handles refusals: a challenge by the network in front of Rumble says nothing about the page behind it.
func check(res *upstream.Response) error {
	switch res.Status {
	case http.StatusNotFound, http.StatusGone:
		return errNoPage
	case http.StatusForbidden:
		return providers.Unavailable(nil, "Rumble answers with a captcha instead of the page")
	}
	return nil
}

// absent reports whether a 404 is the site's own, by its title or where its scripts and pictures are.
func absent(res *upstream.Response) bool {
	return strings.EqualFold(island.Read(res.Body).Title, "404 - Not found") || ownPage(res)
}

var ownPage = upstream.Framed("rumble.com", "rmbl.ws")

var (
	errNoPage      = providers.NotFound("Rumble has no such page")
	errGone        = providers.NotFound("the video is private or no longer available")
	errNoSubtitles = providers.NotFound("the video has no subtitles")
	errNoComment   = providers.NotFound("the video has no such comment")
	errCommentsOff = providers.NotFound("comments are disabled on this video")

	errWall  = providers.Walled("Rumble answers with a captcha instead of the page")
	errLogin = providers.Walled("Rumble asks for a login")
)

// behind converts the error for a missing part of something that Rumble has just shown: the thing itself exists.
func behind(err error) error {
	if errors.Is(err, providers.ErrNotFound) {
		return providers.Unavailable(err, "Rumble does not find a part of the page")
	}
	return err
}
