package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"atelier.dev/atelier/agent"
	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/mcp"
)

// host is an application whose sessions are all in one situation.
type host struct {
	now     mcp.Situation
	cost    int64
	mu      sync.Mutex
	sampled []client.SamplingRequest
}

func (h *host) Situation(context.Context, string) (mcp.Situation, error) { return h.now, nil }
func (h *host) Estimate(mcp.Situation, client.SamplingRequest) *int64    { return &h.cost }
func (h *host) Changed()                                                 {}
func (h *host) Sample(_ context.Context, _ client.Caller, _ mcp.Situation, r client.SamplingRequest) (client.SamplingResult, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sampled = append(h.sampled, r)
	return client.SamplingResult{Model: "m", Text: "sampled"}, nil
}

var from = client.Caller{Server: "hub", Session: "s1", CallID: "c1"}

const secretForm = `{"type":"object","properties":{"password":{"type":"string","minLength":3},"n":{"type":"integer"}},"required":["password"]}`

func say(text string) client.SamplingRequest {
	return client.SamplingRequest{Messages: []client.PromptMessage{{Role: "user", Content: []client.Content{{Kind: client.ContentText, Text: text}}}}}
}

// only returns the question that waits.
func only(t *testing.T, q *mcp.Questions) mcp.ServerQuestion {
	t.Helper()
	synctest.Wait()
	all := q.Waiting()
	if len(all) != 1 {
		t.Fatalf("%d questions wait", len(all))
	}
	return all[0]
}

func idOf(err error) backend.ProblemID {
	var problem *backend.Error
	if errors.As(err, &problem) {
		return problem.ID
	}
	return ""
}

// A form waits for the person, says which server asks, and takes one answer that fits
// it. No error contains the person's input.
func TestForm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := mcp.NewQuestions(&host{now: mcp.Situation{Mode: agent.ModeBypass}})
		got := make(chan client.ElicitResult, 1)
		go func() {
			r, err := q.Elicit(t.Context(), from, client.ElicitRequest{Message: "Your password?", Schema: json.RawMessage(secretForm)})
			if err != nil {
				t.Error(err)
			}
			got <- r
		}()
		one := only(t, q)
		if one.Server != "hub" || one.Session != "s1" || one.CallID != "c1" || one.Form == nil || one.Form.Message != "Your password?" || string(one.Form.Schema) != secretForm {
			t.Errorf("%+v", one)
		}
		for _, content := range []string{``, `null`, `[]`, `{"password":"hunter2`, `{"n":1}`, `{"password":"x"}`, `{"password":"hunter2","n":"hunter2"}`, `{"password":"` + strings.Repeat("hunter2", 20_000) + `"}`} {
			_, err := q.Answer(t.Context(), mcp.ServerAnswer{ID: one.ID, Action: mcp.ActionAccept, Content: json.RawMessage(content)})
			if idOf(err) != backend.ProblemServerAnswer || strings.Contains(fmt.Sprintf("%v %+v", err, err), "hunter2") {
				t.Errorf("%.50s: %v", content, err)
			}
		}
		if _, err := q.Answer(t.Context(), mcp.ServerAnswer{ID: one.ID, Action: "maybe"}); idOf(err) != backend.ProblemServerAnswer {
			t.Error(err)
		}
		answer := mcp.ServerAnswer{ID: one.ID, Action: mcp.ActionAccept, Content: json.RawMessage(`{"password":"hunter2"}`)}
		if _, err := q.Answer(t.Context(), answer); err != nil {
			t.Fatal(err)
		}
		if r := <-got; r.Action != client.ActionAccept || string(r.Content) != `{"password":"hunter2"}` {
			t.Errorf("%+v", r)
		}
		if _, err := q.Answer(t.Context(), answer); idOf(err) != backend.ProblemServerQuestionGone {
			t.Errorf("answered twice: %v", err)
		}
	})
}

// An address is shown whole. Nothing that was typed is sent with a refusal.
func TestLink(t *testing.T) {
	t.Parallel()
	for _, action := range []mcp.ServerAnswerAction{mcp.ActionAccept, mcp.ActionDecline, mcp.ActionCancel} {
		synctest.Test(t, func(t *testing.T) {
			q := mcp.NewQuestions(&host{})
			address := "https://example.com/?" + strings.Repeat("x", 5_000)
			got := make(chan client.ElicitResult, 1)
			go func() {
				r, _ := q.Elicit(t.Context(), from, client.ElicitRequest{Message: "Sign in", URL: address})
				got <- r
			}()
			one := only(t, q)
			if one.Link == nil || one.Link.URL != address {
				t.Errorf("%+v", one)
			}
			if _, err := q.Answer(t.Context(), mcp.ServerAnswer{ID: one.ID, Action: action, Content: json.RawMessage(`{"a":1}`)}); err != nil {
				t.Fatal(err)
			}
			if r := <-got; string(r.Action) != string(action) || r.Content != nil {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A question ends with its call; an answer that comes later goes nowhere.
func TestQuestionEndsWithItsCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := mcp.NewQuestions(&host{})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := q.Elicit(ctx, from, client.ElicitRequest{Schema: json.RawMessage(secretForm)})
			ended <- err
		}()
		one := only(t, q)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if len(q.Waiting()) > 0 {
			t.Error("it still waits")
		}
		if _, err := q.Answer(t.Context(), mcp.ServerAnswer{ID: one.ID, Action: mcp.ActionDecline}); idOf(err) != backend.ProblemServerQuestionGone {
			t.Error(err)
		}
	})
}

// Nobody is asked where nobody can be, and a server that asks without end is refused.
func TestQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, now := range map[string]mcp.Situation{"unattended": {Unattended: true}, "dontAsk": {Mode: agent.ModeDontAsk}} {
		h := &host{now: now}
		q := mcp.NewQuestions(h)
		if r, err := q.Elicit(t.Context(), from, client.ElicitRequest{Schema: json.RawMessage(secretForm)}); err != nil || r.Action != client.ActionDecline {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if _, err := q.Sample(t.Context(), from, say("hi")); !errors.Is(err, client.ErrRefused) || len(h.sampled) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	h := &host{now: mcp.Situation{Mode: agent.ModeBypass}}
	q := mcp.NewQuestions(h)
	if _, err := q.Sample(t.Context(), client.Caller{Server: "hub"}, say("hi")); !errors.Is(err, client.ErrRefused) {
		t.Errorf("of no session: %v", err)
	}
	for _, schema := range []string{``, `{`, `{"type":"array"}`, `{"type":"object","properties":{"a":{"type":"object"}}}`, `{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"type":"object","allOf":[{"$ref":"#"}]}`, `{"type":"object","x":"` + strings.Repeat("y", 100_000) + `"}`} {
		if _, err := q.Elicit(t.Context(), client.Caller{Server: "hub", Session: "s1", CallID: schema}, client.ElicitRequest{Schema: json.RawMessage(schema)}); err == nil {
			t.Errorf("%.60s was asked", schema)
		}
	}
	for _, r := range []client.SamplingRequest{{}, say(strings.Repeat("x", 300_000)), {Messages: make([]client.PromptMessage, 200)}} {
		if _, err := q.Sample(t.Context(), client.Caller{Server: "hub", Session: "s1", CallID: fmt.Sprint(len(r.Messages))}, r); err == nil {
			t.Errorf("%d messages were sampled", len(r.Messages))
		}
	}
	refused := 0
	for range 50 {
		if _, err := q.Sample(t.Context(), from, say("again")); err != nil {
			refused++
		}
	}
	if len(h.sampled) != 10 || refused != 40 {
		t.Errorf("%d sampled, %d refused", len(h.sampled), refused)
	}
}

// Sampling shows what would be sent, by which model and at what cost. It runs once it is
// allowed; once allowed for the session, the server is not asked about again there.
func TestSampling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &host{now: mcp.Situation{Provider: "p", Model: "m"}, cost: 7}
		q := mcp.NewQuestions(h)
		request := say("Summarise.")
		request.System, request.MaxTokens = "Be brief.", 1_000_000
		request.Messages[0].Content = append(request.Messages[0].Content, client.Content{Kind: client.ContentImage, MIME: "image/png", Data: []byte("x")})
		ask := func(who client.Caller) chan error {
			done := make(chan error, 1)
			go func() {
				_, err := q.Sample(t.Context(), who, request)
				done <- err
			}()
			return done
		}
		done := ask(from)
		one := only(t, q)
		s := one.Sampling
		if s == nil || s.Provider != "p" || s.Model != "m" || s.System != "Be brief." || *s.Estimate != 7 || s.MaxTokens != 8_000 ||
			len(s.Messages) != 2 || s.Messages[0].Text != "Summarise." || s.Messages[1].Kind != "image" || s.Messages[1].Text != "image/png" {
			t.Errorf("%+v", s)
		}
		if _, err := q.Answer(t.Context(), mcp.ServerAnswer{ID: one.ID, Action: mcp.ActionDecline, Remember: true}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, client.ErrRefused) || len(h.sampled) > 0 {
			t.Errorf("declined: %v", err)
		}
		done = ask(from)
		if _, err := q.Answer(t.Context(), mcp.ServerAnswer{ID: only(t, q).ID, Action: mcp.ActionAccept, Remember: true}); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil || len(h.sampled) != 1 || h.sampled[0].MaxTokens != 8_000 {
			t.Errorf("accepted: %v", err)
		}
		if err := <-ask(client.Caller{Server: "hub", Session: "s1", CallID: "c2"}); err != nil || len(h.sampled) != 2 {
			t.Errorf("remembered: %v", err)
		}
		for _, other := range []client.Caller{{Server: "other", Session: "s1", CallID: "c3"}, {Server: "hub", Session: "s2", CallID: "c4"}} {
			done := ask(other)
			if _, err := q.Answer(t.Context(), mcp.ServerAnswer{ID: only(t, q).ID, Action: mcp.ActionDecline}); err != nil {
				t.Fatal(err)
			}
			<-done
		}
		q.Forget("s1")
		done = ask(client.Caller{Server: "hub", Session: "s1", CallID: "c5"})
		if _, err := q.Answer(t.Context(), mcp.ServerAnswer{ID: only(t, q).ID, Action: mcp.ActionCancel}); err != nil {
			t.Fatal(err)
		}
		<-done
	})
}

// A request beyond the session's budget is not sent.
func TestSamplingWithinBudget(t *testing.T) {
	t.Parallel()
	left := int64(10)
	for cost, want := range map[int64]int{10: 1, 11: 0} {
		h := &host{now: mcp.Situation{Mode: agent.ModeBypass, Left: &left}, cost: cost}
		_, err := mcp.NewQuestions(h).Sample(t.Context(), from, say("hi"))
		if len(h.sampled) != want || (err == nil) != (want == 1) {
			t.Errorf("%d: %v", cost, err)
		}
	}
}
