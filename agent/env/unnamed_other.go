//go:build !linux

package env

import (
	"errors"
	"os"
)

func openUnnamed(*os.Root, string) (*os.File, error) { return nil, errors.ErrUnsupported }

func nameUnnamed(*os.Root, string, string, *os.File) error { return errors.ErrUnsupported }
