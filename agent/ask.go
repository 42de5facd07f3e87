package agent

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
)

// ask sends one request and streams its answer. A failure keeps the text that
// had arrived, marked as interrupted; calls that had not fully arrived are
// never run.
func (t *turn) ask() (*llm.Answer, error) {
	s := t.session
	set := s.transcript.Settings
	req := llm.Request{
		Provider: set.Provider, Model: set.Model, Effort: set.Effort,
		System: s.cfg.System, Messages: s.transcript.conversation.Lower(),
		Tools: s.cfg.Tools.Definitions(), CacheKey: s.cfg.ID,
	}
	d := draft{emit: t.emit}
	var streamErr error
	for ev, err := range s.cfg.Model.Stream(t.ctx, req) {
		if err != nil {
			streamErr = err
			break
		}
		if t.ctx.Err() != nil {
			streamErr = context.Cause(t.ctx)
			break
		}
		d.add(ev)
	}
	if streamErr == nil && d.answer == nil {
		streamErr = &llm.Error{Class: llm.ClassTruncated, Provider: set.Provider, Message: "the answer ended before it was complete"}
	}
	if streamErr != nil {
		if partial := d.partial(); len(partial.Parts) > 0 {
			t.emit(TextEnd{Message: partial, Finish: llm.Finish{Reason: llm.FinishInterrupted}, Provider: set.Provider, Model: set.Model})
		}
		return nil, streamErr
	}
	t.usage = t.usage.Add(d.answer.Usage)
	t.emit(TextEnd{Message: d.answer.Message, Usage: d.answer.Usage, Finish: d.answer.Finish, Provider: set.Provider, Model: set.Model})
	return d.answer, nil
}

// failure says what a provider's error means for the user.
func failure(err error) Failure {
	f := Failure{Code: "internal", Message: err.Error(), Kept: "Everything up to here is saved."}
	var e *llm.Error
	if !errors.As(err, &e) {
		return f
	}
	f.Code, f.Message = string(e.Class), sentence(e.Message)
	switch e.Class {
	case llm.ClassAuth:
		f.Next = "Check the key in Settings → Keys, then send your message again."
	case llm.ClassPermission, llm.ClassNotFound, llm.ClassConfig:
		f.Next = "Choose another model, or check the provider in Settings → Keys."
	case llm.ClassQuota:
		f.Next = "Check your plan with the provider, or choose another model."
	case llm.ClassRateLimit, llm.ClassOverloaded, llm.ClassServer:
		f.Next = "Wait a little and send your message again, or choose another model."
	case llm.ClassNetwork, llm.ClassTimeout, llm.ClassTruncated:
		f.Next = "Check the connection and the provider's address, then send your message again."
	case llm.ClassContextOverflow:
		f.Next = "Start a new session, or choose a model with a larger context."
	}
	if e.Status != 0 || e.Code != "" || e.RequestID != "" {
		f.Details = e.Error()
		if e.RequestID != "" {
			f.Details += ", request " + e.RequestID
		}
	}
	return f
}

// sentence makes a sentence of an error's phrase.
func sentence(phrase string) string {
	r, n := utf8.DecodeRuneInString(phrase)
	s := string(unicode.ToUpper(r)) + phrase[n:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
