//go:build !unix

package applypatch

import (
	"io/fs"
	"os"
)

func links(fs.FileInfo) int { return 1 }

func keepOwner(*os.File, fs.FileInfo) {}
