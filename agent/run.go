package agent

import (
	"context"
	"fmt"
)

// Run runs a tool outside of any session: the arguments are read as in one, and a
// panic becomes a failed call. Nothing decides whether the call may run. A nil
// Output is taken for one that drops everything.
func Run(ctx context.Context, t Tool, call Invocation) Result {
	registry, err := NewRegistry(t)
	if err != nil {
		return Fail(sentence(err.Error()))
	}
	name := t.Spec().Name
	b, _ := registry.Show().get(name)
	input, _, err := b.input(call.Input)
	if err == nil {
		err = b.accepts(input)
	}
	if err != nil {
		return Fail(fmt.Sprintf("The arguments of %s are not valid: %v. It takes %s.", name, err, b.takes()))
	}
	call.Input = input
	pass := func(text string, _ int) {
		if call.Output != nil {
			call.Output(text)
		}
	}
	return watched(name, pass, func(output func(string)) Result {
		call := call
		call.Output = output
		return t.Run(ctx, call)
	})
}
