// What window_linux.go does in C.
#ifndef ATELIER_WINDOW_LINUX_H
#define ATELIER_WINDOW_LINUX_H

// Each may be called from any thread and acts on the window's own.
void atelier_guard(void);
void atelier_move(int x, int y);

#endif
