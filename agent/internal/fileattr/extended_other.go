//go:build !linux

package fileattr

import "os"

func extended(*os.File) map[string][]byte { return nil }

func extend(*os.File, map[string][]byte) {}
