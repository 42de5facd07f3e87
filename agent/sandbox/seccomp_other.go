//go:build !linux

package sandbox

import "os"

func socketFilter() (*os.File, error) { return nil, ErrNoConfinement }
