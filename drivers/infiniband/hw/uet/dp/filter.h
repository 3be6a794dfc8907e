/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* The local filter: nobody on this host but the engine speaks UET. */
#ifndef UET_FILTER_H
#define UET_FILTER_H

struct net;

int uet_filter_start(struct net *net);
void uet_filter_stop(struct net *net);

#endif /* UET_FILTER_H */
