package agent

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
)

// ask gets one answer from the model. It retries failures that may pass, then
// asks the fallback model, and finally gives up with the reason. Everything
// that an abandoned attempt streamed is void, and none of its calls run; only
// the last attempt keeps its text, marked as cut off.
func (t *turn) ask() (*llm.Answer, error) {
	set := t.session.transcript.effective()
	model := llm.Origin{Provider: set.Provider, Model: set.Model}
	t.overflowed, t.elided = false, false
	d, err := t.askModel(model, set.Effort)
	t.fatal = refused(err)
	if err != nil && set.FallbackModel != "" && llm.Transient(err) && t.ctx.Err() == nil {
		t.keep(model, d, llm.Message{Role: llm.RoleAssistant})
		instead := llm.Origin{Provider: set.FallbackProvider, Model: set.FallbackModel}
		t.emit(Warn(WarnFallback, model.Model, reasonOf(err), instead.Model))
		model = instead
		d, err = t.askModel(model, set.Effort)
	}
	if err != nil {
		t.keep(model, d, d.partial())
		return nil, err
	}
	answer := d.answer
	if answer.RateLimit != nil {
		t.emit(RateLimitReport{Provider: model.Provider, Limit: *answer.RateLimit})
	}
	t.usage = t.usage.Add(answer.Usage)
	written := d.tools.readWritten(answer)
	var leftOut int
	answer.Message, leftOut = t.session.transcript.admit(answer.Message)
	t.emit(TextEnd{
		Message: answer.Message, Usage: answer.Usage, Finish: answer.Finish, ThinkingMs: d.thought.Milliseconds(),
		Provider: model.Provider, Model: model.Model, Cost: t.session.price(model, answer.Usage),
	})
	t.said = answer.Message.Text()
	if len(written) > 0 {
		t.emit(Warn(WarnCallWritten, strings.Join(written, ", ")))
	}
	t.leftOut(leftOut + answer.LeftOut)
	return answer, nil
}

// keep records the remains of an answer that broke off. An answer without
// remains is recorded too, because the provider may charge for it.
func (t *turn) keep(model llm.Origin, d *draft, m llm.Message) {
	used := d.used()
	if !d.begun() && !used.Known {
		return
	}
	t.count(used)
	t.emit(TextEnd{
		Message: m, Usage: used, Finish: llm.Finish{Reason: llm.FinishInterrupted},
		Provider: model.Provider, Model: model.Model, Cost: t.session.price(model, used),
	})
}

// count adds the known usage of a failed request to the turn.
func (t *turn) count(used llm.Usage) {
	if used.Known {
		t.usage = t.usage.Add(used)
	}
}

// askModel asks one model as often as the retry policy allows. It returns the
// last attempt, complete or with an error.
func (t *turn) askModel(model llm.Origin, effort llm.Effort) (*draft, error) {
	policy := t.session.cfg.Retry
	var remedies []HistoryRepaired // that are being tried, the newest last
	for n := 1; ; n++ {
		profile := t.session.show(model)
		d := &draft{emit: t.emit, now: t.session.cfg.Now, tools: profile.Tools}
		err := t.attempt(profile, model, effort, d, &remedies)
		if err == nil {
			return d, nil
		}
		full := d.answer != nil && d.answer.Finish.Reason == llm.FinishContextOverflow
		if full { // it is an answer and was paid for, up to the limit
			t.keep(model, d, d.partial())
			d = &draft{}
		}
		if t.ctx.Err() == nil && t.repair(model, err) {
			if full {
				t.pickUp()
			}
			n-- // a changed request does not count as a retry
			continue
		}
		if next := t.remedy(model, err, remedies); next != nil && t.ctx.Err() == nil {
			if d.answer != nil { // the refusal was an answer
				t.keep(model, d, llm.Message{Role: llm.RoleAssistant})
			}
			remedies = append(remedies, *next)
			n--
			continue
		}
		if notSent(err) {
			n--
		}
		wait, again := policy.Delay(n, err, rand.Float64())
		if !again || t.ctx.Err() != nil {
			return d, err
		}
		if notSent(err) {
			wait += rand.N(holdSpread)
		}
		f, used := Explain(err), d.used()
		t.count(used)
		t.emit(Retrying{
			Provider: model.Provider, Model: model.Model, Attempt: n, Of: policy.Retries,
			DelayMs: wait.Milliseconds(), ID: f.ID, Args: f.Args, Code: f.Code, Message: f.Message, Sent: d.begun(),
			Usage: used, Cost: t.session.price(model, used),
		})
		if !t.sleep(wait) {
			return &draft{}, err // its remains are already recorded
		}
	}
}

// holdSpread keeps sessions that wait for the same provider from returning to
// it at the same instant.
const holdSpread = time.Second

// refused reports whether a provider rejected the key. Nothing more can be
// asked until the user fixes it (LOOP-157).
func refused(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Class == llm.ClassAuth
}

// notSent reports whether a request was held back because an earlier one was
// refused.
func notSent(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Held
}

// usageOf returns what the provider counted for the answer that err ended.
func usageOf(err error) llm.Usage {
	var e *llm.Error
	if errors.As(err, &e) {
		return e.Usage
	}
	return llm.Usage{}
}

// attempt sends one request and reads its answer to the end. Once the provider
// has accepted remedies, attempt records them and clears the list.
func (t *turn) attempt(profile Profile, model llm.Origin, effort llm.Effort, d *draft, remedies *[]HistoryRepaired) error {
	s := t.session
	options, err := t.options(model, profile)
	if err != nil {
		return err
	}
	req := llm.Request{
		Provider: model.Provider, Model: model.Model, Effort: effort,
		System: t.briefing(model).System, Messages: t.sendable(model, *remedies),
		Tools: d.tools.Definitions(), CacheKey: s.cfg.ID, Options: options,
		MaxOutput: mostOutput(s, model, t.nextUsage()),
	}
	s.window.sent = requestTokens(&req)
	t.settle()
	for ev, err := range s.cfg.Model.Stream(t.ctx, req) {
		if err != nil {
			d.failed = usageOf(err)
			return err
		}
		if t.ctx.Err() != nil {
			return context.Cause(t.ctx)
		}
		for _, r := range accepted(*remedies) {
			t.emit(r)
		}
		*remedies = nil
		d.add(ev)
	}
	return d.fault(model.Provider)
}

// sleep waits. It reports false if the turn ended meanwhile.
func (t *turn) sleep(d time.Duration) bool {
	t.settle()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-t.ctx.Done():
		return false
	}
}

// sentence turns an error's phrase into a sentence.
func sentence(phrase string) string {
	r, n := utf8.DecodeRuneInString(phrase)
	s := string(unicode.ToUpper(r)) + phrase[n:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
