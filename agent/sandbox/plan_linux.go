package sandbox

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The launcher's plan: the numbers are the same in launcher.c.
const (
	planMagic = 0x6c6e6368
	mostSteps = 8192
	mostPlan  = 4 << 20

	planSharesNetwork = 1
	planTerminal      = 2
	planNested        = 4
	planWeaker        = 8
)

// planHead is how a plan begins. The steps follow, then the rules, then the texts.
type planHead struct{ Magic, Size, Flags, Steps, Rules, Folder uint32 }

// planStep is a [mount]. Its texts are given by where they begin in the plan.
type planStep struct {
	Kind, Mode, Source, Target uint32
	// What, and Place, identify what has to be at the source and at the target.
	What, Place identity
}

// identity tells a file from all others. It is zero if any may be there.
type identity struct{ Device, Inode uint64 }

func identityOf(info os.FileInfo) (id identity) {
	if info != nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			id = identity{stat.Dev, stat.Ino}
		}
	}
	return id
}

// encode returns a plan in the launcher's format.
func (m *mounts) encode(flags uint32, rules []unix.SockFilter) ([]byte, error) {
	tooMany := fmt.Errorf("%w: the settings name too many files", ErrNoConfinement)
	if len(m.steps) > mostSteps {
		return nil, tooMany
	}
	head := planHead{Magic: planMagic, Flags: flags, Steps: uint32(len(m.steps)), Rules: uint32(len(rules))}
	texts := uint32(binary.Size(head) + len(m.steps)*binary.Size(planStep{}) + binary.Size(rules))
	var all strings.Builder
	text := func(s string) uint32 {
		at := texts + uint32(all.Len())
		all.WriteString(s)
		all.WriteByte(0)
		return at
	}
	steps := make([]planStep, len(m.steps))
	// Whether what is at a path in the plan is also there outside. These folders are
	// always the command's own.
	seen := map[string]bool{"/dev": false, "/proc": false}
	for i, step := range m.steps {
		if strings.Contains(step.path+step.source, "\x00") {
			return nil, fmt.Errorf("%w: a path has a zero byte", ErrNoConfinement)
		}
		target := text(step.path)
		steps[i] = planStep{Kind: uint32(step.kind), Mode: uint32(step.mode.Perm()), Source: target, Target: target, What: identityOf(step.what)}
		if step.kind != emptyFolder && step.source != step.path {
			steps[i].Source = text(step.source)
		}
		if showsOutside(seen, step.path) {
			steps[i].Place = identityOf(step.place)
		}
		seen[step.path] = step.kind != emptyFolder && step.source == step.path
	}
	head.Folder = text(m.dir)
	head.Size = texts + uint32(all.Len())
	if head.Size > mostPlan {
		return nil, tooMany
	}
	var plan []byte
	for _, part := range []any{head, steps, rules} {
		var err error
		if plan, err = binary.Append(plan, binary.NativeEndian, part); err != nil {
			return nil, fmt.Errorf("write the plan: %w", err)
		}
	}
	return append(plan, all.String()...), nil
}

// showsOutside reports whether the steps so far leave at a path what is there
// outside.
func showsOutside(seen map[string]bool, path string) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if same, ok := seen[dir]; ok {
			return same
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
