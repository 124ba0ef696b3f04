// Package github reads public GitHub data from the REST API. Profiles are users and organisations, posts are public
// repositories, comments are those on a repository's issues and pull requests.
//
// Everything works without a token, at 60 reads an hour; a token without scopes raises that to 5,000. Source:
// https://docs.github.com/rest
package github

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/socialdata/socialdata/platform"
	"github.com/socialdata/socialdata/providers"
	"github.com/socialdata/socialdata/providers/kit/upstream"
	"github.com/socialdata/socialdata/schema"
)

// Config configures the provider for GitHub.
type Config struct {
	Token   string       // a personal access token without scopes; "" reads anonymously
	BaseURL string       // "" means https://api.github.com
	HTTP    *http.Client // nil means a client of its own
}

const (
	site     = "https://github.com/"
	pageSize = 30 // of every list; at most 100 upstream
)

// credentials are the query parameters in which GitHub accepts, or once accepted, credentials.
// https://docs.github.com/rest/authentication/authenticating-to-the-rest-api
var credentials = []string{"access_token", "client_id", "client_secret"}

// ownerOnly are the fields of an account, an organisation and a repository that GitHub shows only to their owners.
// https://docs.github.com/rest/users/users#get-the-authenticated-user
// https://docs.github.com/rest/orgs/orgs#get-an-organization
// https://docs.github.com/rest/repos/repos#get-a-repository
var ownerOnly = []string{
	"plan", "billing_email", "notification_email", "two_factor_authentication", "two_factor_requirement_enabled",
	"total_private_repos", "owned_private_repos", "private_gists", "disk_usage", "collaborators", "business_plus", "ldap_dn",
	"default_repository_permission", "default_repository_branch", "members_can_create_repositories",
	"members_can_create_public_repositories", "members_can_create_private_repositories",
	"members_can_create_internal_repositories", "members_allowed_repository_creation_type", "members_can_create_pages",
	"members_can_create_public_pages", "members_can_create_private_pages", "members_can_fork_private_repositories",
	"members_can_delete_repositories", "members_can_change_repo_visibility", "members_can_invite_outside_collaborators",
	"members_can_delete_issues", "display_commenter_full_name_setting_enabled", "readers_can_create_discussions",
	"members_can_create_teams", "members_can_view_dependency_insights",
	"deploy_keys_enabled_for_repositories", "advanced_security_enabled_for_new_repositories",
	"dependabot_alerts_enabled_for_new_repositories", "dependabot_security_updates_enabled_for_new_repositories",
	"dependency_graph_enabled_for_new_repositories", "secret_scanning_enabled_for_new_repositories",
	"secret_scanning_push_protection_enabled_for_new_repositories", "secret_scanning_push_protection_custom_link",
	"secret_scanning_push_protection_custom_link_enabled", "secret_scanning_validity_checks_enabled",
	"permissions", "temp_clone_token", "security_and_analysis", "delete_branch_on_merge", "allow_auto_merge",
}

type client struct {
	token    bool // set if there is a token, which may have access to private data
	http     *upstream.Client
	searches *upstream.Quota // the search limit, which is separate; everything else counts against the core limit
}

// New returns the one upstream of public GitHub data.
func New(cfg Config) providers.Chain {
	c := newClient(cfg)
	return providers.Chain{{
		Name: "github", Platform: platform.GitHub, Source: schema.Official, Prompt: true,
		PageSizes: providers.PagesOf(strconv.Itoa(pageSize), providers.OpFollowers, providers.OpFollowing,
			providers.OpPosts, providers.OpSearch, providers.OpComments, providers.OpLinked),
		Limits:    upstream.Limits(map[string]*upstream.Quota{"core": c.http.Quota(), "searches": c.searches}),
		Profile:   c.profile,
		Followers: c.followers,
		Following: c.following,
		Linked:    c.linked,
		Posts:     c.posts,
		Post:      c.post,
		Search:    c.search,
		Comments:  c.comments,

		Normalize: addresses.Normalize, Names: addresses.Names, Also: addresses.Also,
		Filters: map[providers.Op]providers.Filters{
			providers.OpPosts:  providers.NewestFirst(),
			providers.OpSearch: {"kind": {"post", "profile"}, "sort": {"relevance", "recent"}, "since": nil, "until": nil},
		},
		Notes: map[providers.Op]string{
			providers.OpComments:    "of a repository: those on its issues and pull requests, newest first; of owner/repo#123: that issue's, oldest first",
			providers.OpSearch:      "repositories unless kind=profile; since and until are about creation; at most 1,000 results",
			providers.OpReplies:     "issue comments have no replies",
			providers.OpSuggestions: "GitHub has no public suggestions",
			providers.OpTrending:    "GitHub has no API for its trending page",
		},
		Routes: providers.Routes(platform.GitHub,
			"users/{username}", "users/{username}/repos{?type,sort,direction,per_page,page}",
			"users/{username}/social_accounts{?per_page,page}", "orgs/{org}",
			"repos/{owner}/{repo}", "repos/{owner}/{repo}/languages", "repos/{owner}/{repo}/releases{?per_page,page}",
			"repos/{owner}/{repo}/contributors{?anon,per_page,page}", "repos/{owner}/{repo}/issues/comments{?sort,direction,since,per_page,page}",
			"repos/{owner}/{repo}/issues/{number}",
		),
		Forward:     c.forward,
		Credentials: credentials,
		Owner:       providers.Owner{Fields: ownerOnly},
	}}
}

func newClient(cfg Config) *client {
	header := http.Header{
		"Accept":               {"application/vnd.github+json"},
		"X-GitHub-Api-Version": {"2022-11-28"},
	}
	if cfg.Token != "" {
		header.Set("Authorization", "Bearer "+cfg.Token)
	}
	return &client{
		token: cfg.Token != "",
		http: upstream.New(upstream.Config{
			HTTP: cfg.HTTP, Base: cmp.Or(cfg.BaseURL, "https://api.github.com"), Header: header, Check: check, Absent: absent, Credentials: credentials,
			Limits: &upstream.LimitHeaders{Limit: "X-RateLimit-Limit", Remaining: "X-RateLimit-Remaining", Reset: "X-RateLimit-Reset"},
			Quota:  upstream.NewQuota(0, 0), // each answer states what is left, which includes other readers at our address
			// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
			Validators: upstream.Validators{
				Free: cfg.Token != "", Vary: []string{"Cookie", "X-GitHub-OTP", "X-Requested-With"},
			},
		}),
		searches: upstream.NewQuota(0, 0),
	}
}

// forward reads a route unchanged, if it shows public data: our token may be allowed to see more than that.
func (c *client) forward(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	segments := strings.Split(path, "/")
	if c.token && segments[0] == "repos" && len(segments) >= 3 {
		if err := c.public(ctx, segments[1]+"/"+segments[2]); err != nil {
			return nil, err
		}
	}
	return c.http.Forward(ctx, path, query)
}

// public returns [providers.ErrNotFound] unless a repository is public.
func (c *client) public(ctx context.Context, name string) error {
	repo, err := c.repository(ctx, name)
	if err != nil {
		return err
	}
	if private := repo.V.Private.V; private == nil || *private {
		return providers.ErrNotFound
	}
	return nil
}
