import random
import time

from django.conf import settings
from django.contrib.postgres.search import SearchQuery, SearchRank, SearchVector
from django.db import transaction
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from rest_framework.decorators import action
from rest_framework.mixins import ListModelMixin
from rest_framework.response import Response
from rest_framework.status import HTTP_201_CREATED
from rest_framework.viewsets import GenericViewSet

from feedback.models import Comment, Post, Status, User
from feedback.serializers import (
    CommentSerializer,
    CustomerPostSerializer,
    OwnPostSerializer,
    PostSerializer,
)


class CommentViewSet(ListModelMixin, GenericViewSet):
    serializer_class = CommentSerializer
    queryset = Comment.objects.prefetch_related("post__board", "creator", "status").order_by(
        *settings.LIST_ORDERING
    )


class PostViewSet(ListModelMixin, GenericViewSet):
    serializer_class = PostSerializer
    throttle_scope = None

    def get_queryset(self):
        of_post = Comment.objects.filter(post=OuterRef("id")).values("post")
        number = Subquery(of_post.annotate(number=Count("id")).values("number"))
        posts = Post.objects.select_related("board", "status", "creator")
        return posts.annotate(comments_count=Coalesce(number, 0)).order_by(*settings.LIST_ORDERING)

    def list(self, request):
        text = request.query_params.get("search")
        return self.search(text) if text else super().list(request)

    def search(self, text):
        words = SearchVector("title", weight="A") + SearchVector("content", weight="C")
        ranked = self.get_queryset().annotate(rank=SearchRank(words, SearchQuery(text)))
        best = ranked.filter(rank__gt=0).order_by("-rank", "-id")[:50]
        return Response({"next": None, "previous": None, "results": self.get_serializer(best, many=True).data})

    @action(["post"], False, "create", throttle_scope="create", serializer_class=OwnPostSerializer)
    def create_own(self, request):
        return self.answer(lambda fields: (request.user, fields))

    @action(["post"], False, "create/as-user", throttle_scope="create", serializer_class=CustomerPostSerializer)
    def create_as_user(self, request):
        return self.answer(customer_of)

    def answer(self, author_of):
        form = self.get_serializer(data=self.request.data)
        form.is_valid(raise_exception=True)
        with transaction.atomic():
            creator, fields = author_of(form.validated_data)
            post = Post.objects.create(creator=creator, status=Status.objects.first(), **fields)
        notify()
        url = self.request.build_absolute_uri(post.url)
        return Response({"status": "Success", "post_id": post.id, "url": url}, HTTP_201_CREATED)


def customer_of(form):
    fields = {name: form[name] for name in ("board", "title", "content") if name in form}
    known = User.objects.filter(email__iexact=form["email"]).first()
    return known or User.objects.create(email=form["email"], name=form["full_name"]), fields


def notify():
    """Services send mails and webhooks here, after the commit and before the answer. Some take long."""
    share, seconds = map(float, settings.SLOW_CREATES.split())
    if random.random() < share:
        time.sleep(seconds)
