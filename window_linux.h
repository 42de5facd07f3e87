// The functions of window_linux.go that are written in C.
#ifndef ATELIER_WINDOW_LINUX_H
#define ATELIER_WINDOW_LINUX_H

// Each may be called from any thread and runs on the window's thread.
void atelier_guard(void);
void atelier_move(int x, int y);
void atelier_zoom(int percent);
void atelier_present(void);

#endif
