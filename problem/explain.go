package problem

// Explain returns when a problem with the code occurs, and what to do, in sentences; nil for an unknown code.
func (c Code) Explain() []string {
	switch c {
	case InvalidRequest:
		return []string{
			"The request is invalid: a parameter is missing, unknown, given twice, empty or malformed; the platform cannot " +
				"filter by it; a cursor belongs to another call; or the method is not GET (then the status is 405).",
			"Read detail, which names the parameter and what it must be, and correct the request. Repeating it unchanged does " +
				"not help.",
		}
	case Unauthorized:
		return []string{
			"The key is missing, malformed, unknown or revoked. The answer is the same in every case, so that it never " +
				"reveals whether a key exists.",
			"Check the header Authorization: Bearer and the key; create a new key if it was revoked.",
		}
	case InsufficientCredits:
		return []string{
			"The balance is below the highest possible price of this call. Nothing was charged and no platform was called.",
			"Ask the operator to grant credits to the account, or make a cheaper call: fresh and enrich cost more than a " +
				"plain call.",
		}
	case NotFound:
		return []string{
			"There is no such platform, account or object, or its owner has hidden it: a private account, comments that are " +
				"off, a post without a transcript. detail says which.",
			"The answer is cached for a minute, so that calling again at once does not reach the platform. A route that does " +
				"not exist has the same code.",
		}
	case RateLimited:
		return []string{
			"The rate limit of the key is reached, or the account has too many stored answers for Idempotency-Key.",
			"Wait as many seconds as retry_after and the header Retry-After say, then continue. Watch the header RateLimit to " +
				"slow down earlier.",
		}
	case InternalError:
		return []string{
			"Something went wrong on our side. Nothing was charged.",
			"Retry later; if it happens again, report request_id: the log of the server has the cause under it.",
		}
	case PlatformUnavailable:
		return []string{
			"The platform does not offer the operation, the server lacks a setting for it, or the platform failed, refused or " +
				"returned an answer that cannot be used. detail names the route and the reason.",
			"With Retry-After, retry after that time. Without it and with “does not offer” in detail, waiting does not help: " +
				"see the page Platforms.",
		}
	case UpstreamTimeout:
		return []string{
			"The platform did not answer in time: a call has 15 seconds in total.",
			"Retry later. Nothing was charged.",
		}
	}
	return nil
}
