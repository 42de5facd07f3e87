package agent

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/agent/llm"
)

// FailureID names one way in which a request fails, for those who word it in
// another language. An id is stored with the events that carry it, and so is
// never given another meaning. A host's own failures have ids of its own.
type FailureID string

// The failures of a provider are those of its errors' classes; {0} is what the
// provider said, {1} how long it asks to wait.
const (
	FailureInternal        FailureID = "turn_failed"
	FailureAuth            FailureID = "provider_auth"
	FailurePermission      FailureID = "provider_permission"
	FailureNotFound        FailureID = "provider_not_found"
	FailureInvalid         FailureID = "provider_invalid"
	FailureRateLimit       FailureID = "provider_rate_limit"
	FailureRateLimitWait   FailureID = "provider_rate_limit_wait"
	FailureQuota           FailureID = "provider_quota"
	FailureOverloaded      FailureID = "provider_overloaded"
	FailureOverloadedWait  FailureID = "provider_overloaded_wait"
	FailureServer          FailureID = "provider_server"
	FailureServerWait      FailureID = "provider_server_wait"
	FailureTimeout         FailureID = "provider_timeout"
	FailureNetwork         FailureID = "provider_network"
	FailureTruncated       FailureID = "provider_truncated"
	FailureContentFilter   FailureID = "provider_content_filter"
	FailureContextOverflow FailureID = "provider_context_overflow"
	FailureAbort           FailureID = "provider_abort"
	FailureConfig          FailureID = "provider_config"
	FailureUnsupported     FailureID = "provider_unsupported"
	FailureBadObject       FailureID = "provider_bad_object"
	FailureTooLarge        FailureID = "provider_too_large"
	FailureEmpty           FailureID = "answer_empty" // model
	FailureWindowSmall     FailureID = "window_small" // tokens of the instructions and tools, of the window
	FailureWindowSet       FailureID = "window_set"   // the same, and the setting of the server

	// What keeps a conversation from being compacted.
	FailureNoCompactor      FailureID = "compaction_unavailable"
	FailureNothingToCompact FailureID = "compaction_nothing"
	FailureCompactionBudget FailureID = "compaction_budget"
	FailureTooLittle        FailureID = "compaction_too_little"
	FailureSummaryTooLong   FailureID = "compaction_summary_too_long"
)

const (
	keptTurn    = "Everything up to here is kept."
	nextWait    = "Wait a little and try again, or choose another model."
	nextAsked   = "The provider asks to wait {1}. Try again after that, or choose another model."
	nextKeys    = "Choose another model, or check the provider's key and address."
	nextConnect = "Check the connection and the provider's address, then try again."
)

// failures are the English sentences: what happened, and what to do next.
var failures = map[FailureID]struct{ message, next string }{
	FailureInternal:        {"Something went wrong: {0}.", "Try again."},
	FailureAuth:            {"The provider does not accept the key.", "Check the provider's key, then try again."},
	FailurePermission:      {"The provider does not permit this request: {0}.", nextKeys},
	FailureNotFound:        {"The provider did not find what was asked for: {0}.", nextKeys},
	FailureInvalid:         {"The provider refused the request: {0}.", "Change the message or choose another model, then try again."},
	FailureRateLimit:       {"The provider refuses more requests for now.", nextWait},
	FailureRateLimitWait:   {"The provider refuses more requests for now.", nextAsked},
	FailureQuota:           {"The quota of your account is used up.", "Check your plan with the provider, or choose another model."},
	FailureOverloaded:      {"The provider is overloaded.", nextWait},
	FailureOverloadedWait:  {"The provider is overloaded.", nextAsked},
	FailureServer:          {"The provider failed: {0}.", nextWait},
	FailureServerWait:      {"The provider failed: {0}.", nextAsked},
	FailureTimeout:         {"The provider did not answer in time.", nextConnect},
	FailureNetwork:         {"The provider could not be reached: {0}.", nextConnect},
	FailureTruncated:       {"The answer broke off before it was complete.", nextConnect},
	FailureContentFilter:   {"The provider's content filter refused the request: {0}.", "Change the message or choose another model, then try again."},
	FailureContextOverflow: {"The conversation is longer than the model can read.", "Compact the conversation, start a new session, or choose a model with a larger context window."},
	FailureAbort:           {"The request was stopped.", "Try again."},
	FailureConfig:          {"The provider is not set up correctly: {0}.", nextKeys},
	FailureUnsupported:     {"The provider or the model does not support what was asked for: {0}.", nextKeys},
	FailureBadObject:       {"The model did not answer in the form that was asked for: {0}.", "Try again, or choose another model."},
	FailureTooLarge:        {"The answer was too large and was stopped.", "Ask for less in one answer, or choose another model."},

	FailureEmpty: {"{0} gave an empty answer, twice.", "Send a message to go on, or choose another model."},

	FailureWindowSmall: {
		"Instructions and tools alone take about {0} tokens, and the model can read {1}. A shorter conversation would not help.",
		"Choose a model with a larger context window.",
	},
	FailureWindowSet: {
		"Instructions and tools alone take about {0} tokens, and the server gives the model {1}. A shorter conversation would not help.",
		"Give it more and load the model again, then try again: {2}.",
	},

	FailureNoCompactor:      {message: "Nothing here writes summaries."},
	FailureNothingToCompact: {message: "There is nothing new to summarise."},
	FailureCompactionBudget: {message: "A summary would cost more than is left of the session's budget."},
	FailureTooLittle:        {message: "A summary would not free enough space, so none was asked for."},
	FailureSummaryTooLong:   {message: "The summary is too long to free enough space."},
}

// Failed returns the failure with an id. As many arguments as its sentences take
// fill them.
func Failed(id FailureID, args ...string) Failure {
	f := failures[id]
	return Failure{ID: id, Args: args, Message: Fill(f.message, args), Kept: keptTurn, Next: Fill(f.next, args)}
}

// failedError is an error of the loop's own that has a sentence.
type failedError FailureID

// Error implements the error interface.
func (f failedError) Error() string { return failures[FailureID(f)].message }

// Explain says what an error of a request means for the user. The details have
// the provider's own words, unless the message has them already.
func Explain(err error) Failure {
	var own failedError
	if errors.As(err, &own) {
		f := Failed(FailureID(own))
		f.Code = "internal"
		return f
	}
	var e *llm.Error
	if !errors.As(err, &e) {
		f := Failed(FailureInternal, reasonOf(err))
		f.Code = "internal"
		return f
	}
	id, args := FailureID("provider_"+string(e.Class)), []string{reasonOf(e)}
	if e.RetryAfter > 0 {
		switch e.Class {
		case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassServer:
			id += "_wait"
			args = append(args, pauseOf(e.RetryAfter))
		}
	}
	f := Failed(id, args...)
	f.Code = string(e.Class)
	if e.Message != "" || e.Status != 0 || e.Code != "" || e.RequestID != "" {
		f.Details = e.Error()
		if e.RequestID != "" {
			f.Details += ", request " + e.RequestID
		}
	}
	return f
}

// pauseOf writes a pause without the zeros at its end: "1h", "1m30s".
func pauseOf(d time.Duration) string {
	s := (d + time.Second - 1).Truncate(time.Second).String()
	if short, ok := strings.CutSuffix(s, "m0s"); ok {
		s = short + "m"
	}
	if short, ok := strings.CutSuffix(s, "h0m"); ok {
		s = short + "h"
	}
	return s
}

// reasonOf is what an error says, to end a sentence with; of a provider's, what
// the provider itself said.
func reasonOf(err error) string {
	var e *llm.Error
	if !errors.As(err, &e) {
		return strings.TrimSuffix(err.Error(), ".")
	}
	phrase := strings.TrimSuffix(strings.TrimSpace(e.Message), ".")
	if phrase == "" && e.Status != 0 {
		phrase = fmt.Sprintf("HTTP %d", e.Status)
	}
	return cmp.Or(phrase, e.Code, string(e.Class))
}

// Failure returns a warning that ended a turn as the failure of its input, for
// programs.
func (w Warning) Failure() *Failure { return &Failure{Code: w.Code, Message: w.Message} }
