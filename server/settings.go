package server

import (
	"net/http"
	"reflect"

	"github.com/socialdata/socialdata"
	"github.com/socialdata/socialdata/schema"
	"github.com/socialdata/socialdata/server/describe"
)

// settingRoutes are served with [WithEndpoints]: the settings concern what is sent to endpoints.
var settingRoutes = []managed{
	{readSettings, describe.Managed{
		Method: "GET", Path: "/manage/account", ID: "getAccount", Summary: "Read the settings of the account",
		Answer: reflect.TypeFor[schema.AccountSettings](), Status: http.StatusOK,
	}},
	{putSettings, describe.Managed{
		Method: "PUT", Path: "/manage/account", ID: "putAccount", Summary: "Replace the settings of the account",
		Doc:  "A setting that is left out gets its default again.",
		Body: reflect.TypeFor[settingsBody](), Answer: reflect.TypeFor[schema.AccountSettings](), Status: http.StatusOK,
	}},
}

// settingsBody is the body of PUT /manage/account.
type settingsBody struct {
	CreditsLow *int64 `json:"credits_low,omitempty" min:"0" doc:"The balance below which credits.low is sent, 0 for never; null or left out means a tenth of the last grant."`
}

func readSettings(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	settings, err := who.Settings().Read(r.Context())
	if err != nil {
		return err
	}
	return writeMade(w, http.StatusOK, settings)
}

func putSettings(w http.ResponseWriter, r *http.Request, who *socialdata.Client) error {
	var body settingsBody
	if err := readBody(r, &body); err != nil {
		return err
	}
	settings, err := who.Settings().Put(r.Context(), schema.AccountSettings{CreditsLow: body.CreditsLow})
	if err != nil {
		return err
	}
	return writeMade(w, http.StatusOK, settings)
}
