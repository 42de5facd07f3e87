package main

import (
	"fmt"
	"slices"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// sandboxed is the user's settings file that confines commands.
const sandboxed = `{"sandbox":{"enabled":true}}`

// confined measures what the sandbox adds to the turns of a script: runs with
// and without it take turns, so that whatever else the machine does weighs on
// both. The least gaps of all runs are compared as well, because a confined
// command has many steps that wait for a processor.
func (b bench) confined(script []llmtest.Round) (string, error) {
	var free, inside []float64
	for range b.runs {
		for settings, gaps := range map[string]*[]float64{"": &free, sandboxed: &inside} {
			b.settings = settings
			r, err := b.play(script)
			if err != nil {
				return "", err
			}
			for _, gap := range r.gaps[1:] { // the first command looks for the means to confine
				*gaps = append(*gaps, ms(gap))
			}
		}
	}
	return fmt.Sprintf("%.1f, %.1f ms", middle(inside)-middle(free), slices.Min(inside)-slices.Min(free)), nil
}
