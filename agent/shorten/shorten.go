// Package shorten has a small model shorten long results of tools that have no limit of their
// own, before the model of the session is told them (OAS-111, K-02).
package shorten

import (
	"context"
	_ "embed" // for the instructions
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/internal/text"
)

//go:embed shorten.md
var instructions string

// The limits, in characters.
const (
	// Longest is the length up to which a result stays as it is.
	Longest = 50_000
	// kept is how much of the beginning and of the end the small model is given.
	kept = 25_000
	// maxAnswer is how much it may answer. A longer answer is not a shorter text.
	maxAnswer = 30_000
)

// mark begins each shortened result, which is not shortened again.
const mark = "[Shortened by a small model from"

// Config is what the shortening of one session needs. Both functions are safe for concurrent use.
type Config struct {
	// Applies reports whether results of a tool are shortened at all.
	Applies func(ctx context.Context, tool string) bool
	// Ask has a small model answer, and returns the requests that it took, which count
	// even if there is no answer.
	Ask func(ctx context.Context, instructions, material string) (string, []agent.SideRequest, error)
}

// New returns a function for [agent.Config]. It returns nil for a result that stays as it is: one
// that is short enough, and one that no model shortened.
func New(cfg Config) func(ctx context.Context, tool, output string, spent func(agent.SideRequest)) *string {
	return func(ctx context.Context, tool, output string, spent func(agent.SideRequest)) *string {
		length := utf8.RuneCountInString(output)
		if length <= Longest || strings.HasPrefix(output, mark) || !cfg.Applies(ctx, tool) {
			return nil
		}
		answer, made, err := cfg.Ask(ctx, instructions, material(tool, output, length))
		for _, request := range made {
			spent(request)
		}
		answer = strings.TrimSpace(answer)
		if err != nil || answer == "" || utf8.RuneCountInString(answer) > maxAnswer {
			slog.Info("a long result is cut and not shortened", "tool", tool, "characters", length, "err", err)
			return nil
		}
		short := fmt.Sprintf("%s %d characters. The whole is kept: search it with Recall.]\n\n%s", mark, length, answer)
		return &short
	}
}

// material returns the beginning and the end of a result for the small model.
func material(tool, output string, length int) string {
	head := text.Characters(output, kept)
	tail := output
	for n := length - kept; n > 0; n-- {
		_, size := utf8.DecodeRuneInString(tail)
		tail = tail[size:]
	}
	return fmt.Sprintf("The result of %s, %d characters:\n-----\n%s\n[%d characters are left out here.]\n%s\n-----", tool, length, head, length-2*kept, tail)
}
