from django.conf import settings
from rest_framework.pagination import CursorPagination


class ListCursor(CursorPagination):
    ordering = settings.LIST_ORDERING
