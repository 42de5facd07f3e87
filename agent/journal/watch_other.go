//go:build !linux

package journal

import "errors"

// watch is a watch over directories, which this system does not have: everything is
// looked at after each command.
type watch struct{}

func newWatch() *watch                             { return nil }
func (*watch) close()                              {}
func (*watch) add(*dir, string) error              { return errors.ErrUnsupported }
func (*watch) remove(*dir)                         {}
func (*watch) drain(func(*dir, string, bool)) bool { return false }
