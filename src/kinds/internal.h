/* What the tables of rows share. Nobody outside this folder includes it. */
#ifndef KINDS_INTERNAL_H
#define KINDS_INTERNAL_H

#include "kinds/kinds.h"
#include "kinds/more.h"

extern const struct kind_row kinds_core[], kinds_workloads[], kinds_platoon[];
extern const size_t kinds_core_count, kinds_workloads_count, kinds_platoon_count;

kind_convert convert_event;   /* core and events.k8s.io */
kind_convert convert_hpa;     /* autoscaling v1 and v2 */
kind_convert convert_rbg;     /* flat roles (v1alpha1) and roles with patterns (v1alpha2) */
kind_convert convert_rbg_set; /* the same inside a RoleBasedGroupSet */

/* ---- shorthand for rows ---- */

#define SCALED (ROW_STATUS | ROW_SCALE | ROW_ALL)
#define CUSTOM (ROW_CUSTOM | ROW_STATUS)
#define CUSTOM_SCALED (CUSTOM | ROW_SCALE)
#define CLUSTER ROW_CLUSTER
#define STATUS ROW_STATUS

/* ---- shorthand for columns ---- */

#define AGE                                                                                                            \
	{                                                                                                              \
		.name = "Age", .type = "date", .format = "", .description = "", .path = ".metadata.creationTimestamp"  \
	}
#define COLUMN(title, kind, where)                                                                                     \
	{                                                                                                              \
		.name = (title), .type = (kind), .format = "", .description = "", .path = (where)                      \
	}
#define WIDE(title, kind, where)                                                                                       \
	{                                                                                                              \
		.name = (title), .type = (kind), .format = "", .description = "", .path = (where), .priority = 1       \
	}
/* How far a condition is: one row in three tables. */
#define CONDITION(title, type) COLUMN(title, "string", ".status.conditions[?(@.type==\"" type "\")].status")

#endif
