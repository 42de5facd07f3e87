package wire

import (
	"encoding/json"
	"strings"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// details is what the details of one of Google's errors add to its status.
type details struct {
	// class is the true class of a failure if the status says another;
	// otherwise it is empty.
	class      llm.Class
	reason     string
	retryAfter time.Duration
}

// googleDetails reads the details of an error. Google answers an invalid key
// with 400, and uses the same name for a quota that returns in a minute and one
// that is used up for the day.
func googleDetails(body []byte) details {
	type report struct {
		Error struct {
			Details []struct {
				Reason     string `json:"reason"`
				RetryDelay string `json:"retryDelay"`
				Violations []struct {
					QuotaID string `json:"quotaId"`
				} `json:"violations"`
			} `json:"details"`
		} `json:"error"`
	}
	var r report
	if json.Unmarshal(body, &r) != nil {
		var list []report // a stream's error comes as a list
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return details{}
		}
		r = list[0]
	}
	var d details
	for _, part := range r.Error.Details {
		if part.Reason == "API_KEY_INVALID" {
			d.class, d.reason = llm.ClassAuth, part.Reason
		}
		if after, err := time.ParseDuration(part.RetryDelay); err == nil && after > 0 {
			d.retryAfter = after
		}
		for _, v := range part.Violations {
			switch {
			case strings.Contains(v.QuotaID, "PerDay"):
				d.class = llm.ClassQuota
			case v.QuotaID != "" && d.class == "":
				d.class = llm.ClassRateLimit
			}
		}
	}
	return d
}
